"""Questions for advice or a forecast: a reader of documents has neither, and says so beside the facts it quotes."""

from __future__ import annotations

import re
from typing import Literal

Opinion = Literal["", "advice", "forecast"]

_DEAL = r"(?:buy|sell|hold|short|invest|purchase|own|dump|add|trade|sold|bought)"
_FIGURE = (
    r"(?:stocks?|shares?|share price|prices?|revenues?|sales|earnings|profits?|income|margins?|market (?:cap\w*|value)"
    r"|dividends?|cash flows?)"
)
_MOVES = (
    r"(?:rise|fall|grow|increase|decrease|decline|drop|go (?:up|down)|reach|hit|exceed|beat|crash|recover|outperform"
    r"|double|improve|shrink|keep|continue|be)"
)
_ADVICE = re.compile(
    rf"\b(?:should|shall|must|ought|can|could|may|would) (?:i|we|you|one|an? investor|investors|people)\b"
    rf".{{0,40}}\b{_DEAL}\b"
    r"|\b(?:good|great|bad|poor|safe|smart|wise|sound|attractive|solid|strong|right) (?:\w+ ){0,2}"
    r"(?:buy|investment(?! grade)|bet|(?:stock|time|moment|share) (?:to|for) (?:buy|sell|invest|own|hold)\w*)\b"
    r"|\bworth (?:buying|investing|holding|owning|selling|an investment)\b"
    r"|\b(?:is|are)\b.{0,40}\b(?:under|over)[- ]?(?:valued|priced)\b"
    r"|\b(?:do|would|can|could|will) you (?:recommend|suggest|advise|buy|sell|invest)\b"
    rf"|\brecommend (?:me |that i )?{_DEAL}(?:ing)?\b|\bbuy,? (?:or )?(?:sell|hold)\b"
    rf"|\bwhich (?:stocks?|shares?|company) (?:should|to|is (?:better|the best)).{{0,20}}\b{_DEAL}"
    r"|\byour (?:opinion|view|advice|recommendation)\b"
    r"|(?:该不该|应不应该|我应该|我该|要不要|值不值得|值得|是否(?:应该?|值得|该|适合|可以)|适合|能不能|可不可以|我可以|现在可以)"
    r"[^，。？,?]{0,6}(?:买入?|卖出?|持有|投资|入手|加仓|减仓|抄底|清仓|建仓|做空|定投)"
    r"|(?:买入?|投资|入手|持有|买进)[^，。？,?]{0,10}(?:合适吗|好吗|划算吗|靠谱吗|值得吗|安全吗)"
    r"|被?[高低]估(?:了)?吗|是否被?[高低]估|是(?:一?[个只支])?好的?(?:投资|标的|股票|买点)"
    r"|推荐(?:我)?(?:买|一[只支些]|几[只支]|哪)"
)
_FORECAST = re.compile(
    rf"(?:^|[,.:;] ?)(?:(?:what|how (?:much|high|far|low)|where|by how much)\b.{{0,20}})?\bwill\b.{{0,60}}\b{_FIGURE}\b"
    rf".{{0,40}}\b{_MOVES}\b|\bhow (?:much|high|low|far) will\b.{{0,60}}\b(?:go|{_MOVES[3:]}\b"
    rf"|^(?:please |can you |could you )?(?:predict|forecast|project)\b.{{0,60}}\b{_FIGURE}\b"
    r"|\byour (?:prediction|forecast|projection)\b"
    r"|(?:股价|股票|价格|收入|营收|利润|净利润|销售额|销量|业绩|市值|大盘|股市|指数|行情)[^，。？,?]{0,10}"
    r"(?:会不会|能不能|是否会|会|能)(?:继续|再|还|持续)?(?:上?涨|下?跌|增长|下降|上升|回升|反弹|翻倍|突破)[^，。？,?]{0,8}吗?"
    r"(?:[?？]|$)|(?:还会|还能|会)(?:继续)?[涨跌](?:吗|多少|到)"
    r"|(?:明年|下一?个?(?:季度?|月|财?年|周)|明天|后市)[^，。？,?]{0,10}(?:股价|价格|走势|业绩|收入|营收|利润)"
    r"[^，。？,?]{0,6}(?:怎么走|如何走|会是?多少|怎样|怎么样|会怎)"
    r"|^(?:请)?(?:帮我)?预测(?:一下)?[^，。？,?]{0,16}(?:股价|价格|走势|收入|营收|利润|业绩)"
)


def opinion_asked(question: str) -> Opinion:
    """Whether a question asks for advice or a forecast; empty for one that asks for what was reported.

    Args:
        question: Normalised: lower case, full-width signs made ordinary.
    """
    if _ADVICE.search(question):
        return "advice"
    return "forecast" if _FORECAST.search(question) else ""

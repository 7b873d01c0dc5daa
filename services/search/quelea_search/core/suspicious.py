"""Passages that speak to a machine instead of a reader: "ignore your instructions", chat markers, calls of tools.

A flag, not a defence: who words it otherwise gets through, so what a page says stays fenced data whatever this finds.
The patterns want both an order and something that only a machine has (a prompt, a user to answer, a role), so that the
orders of ordinary finance pages pass: instructions to a form, voting instructions, "you are now leaving our site".
"""

from __future__ import annotations

import re
import unicodedata

_MACHINE = r"(?:ai(?!['’])|assistant|chatbot|bot|agent|language\s+model|llm|gpt)"
_ENGLISH: tuple[tuple[str, str], ...] = (
    # Orders to drop other orders.
    (
        "ignor disregard forget overrid overrule bypass follow",
        r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|override|overrule|bypass|stop\s+following|do\s+not\s+follow)\s+"
        r"(?:\w+\s+){0,3}?(?:your|previous|prior|preceding|earlier|above|foregoing|system|developer|safety|original"
        r"|initial)\s+(?:\w+\s+){0,3}?(?:instructions?|prompts?|rules|guidelines|guardrails|directives?|commands?|context"
        r"|training|programming|constraints?|safety|messages?)\b",
    ),
    (
        "ignore disregard forget",
        r"\b(?:ignore|disregard|forget)\s+(?:everything|all|anything|what)\s+(?:\w+\s+){0,4}"
        r"(?:above|before|told|said|prior)\b",
    ),
    (
        "instruction prompt",
        r"\b(?:new|updated|real|actual|important|urgent)\s+(?:system\s+)?(?:instructions?|prompt)\s+(?:to|for)\s+"
        r"(?:you|the\s+(?:ai|assistant|model|agent|llm))\b",
    ),
    # Roles.
    (
        "you are",
        r"\byou\s+are\s+(?:now|from\s+now\s+on|no\s+longer)\s+(?:\w+\s+){0,4}(?:" + _MACHINE + r"|dan|hacker|persona"
        r"|unrestricted|unfiltered|jailbroken|root|admin(?:istrator)?|(?:developer|debug|god)\s+mode)\b",
    ),
    (
        "you are",
        r"\byou\s+are\s+an?\s+(?:\w+\s+){0,3}(?:ai(?!['’])|artificial\s+intelligence|language\s+model|llm|chatbot)\b",
    ),
    ("you are", r"\b(?:if|since|because)\s+you\s+are\s+(?:an?|the)\s+(?:\w+\s+){0,2}" + _MACHINE + r"\b"),
    ("from now on", r"\bfrom\s+now\s+on,?\s+you\s+(?:are|will|must|shall|should|only)\b"),
    (
        "pretend imagine",
        r"\b(?:pretend|imagine)\s+(?:to\s+be|that\s+you\s+are|you\s+are)\s+(?:\w+\s+){0,3}(?:"
        + _MACHINE
        + r"|model)\b",
    ),
    (
        "act as",
        r"\bact\s+as\s+(?:an?\s+|the\s+|my\s+)?(?:\w+\s+){0,2}(?:ai(?!['’])|assistant\b(?!\s+\w)|language\s+model|llm"
        r"|chatbot|jailbreak|dan)\b",
    ),
    ("mode", r"\b(?:jailbreak|developer|debug|god)\s+mode\s+(?:is\s+)?(?:now\s+)?(?:enabled|activated|on)\b"),
    # Prompts and users.
    ("your", r"\byour\s+(?:\w+\s+)?(?:system|initial|hidden|secret|original)\s+(?:prompt|instructions?|message)\b"),
    (
        "prompt message",
        r"\b(?:reveal|print|output|repeat|show|display|leak|dump|give|ignore|disregard|override|send)\s+(?:\w+\s+){0,4}"
        r"(?:system|developer|hidden)\s+(?:prompt|message)\b",
    ),
    ("system", r"(?:^|[\[<#*(\n])\s*system\s+(?:prompt|message|override|instructions?)\s*[\])>:]"),
    (
        "user human person",
        r"\b(?:do\s+not|don['’]t|never|without)\s+(?:tell(?:ing)?|inform(?:ing)?|alert(?:ing)?|notify(?:ing)?|warn(?:ing)?"
        r"|mention(?:ing)?\s+(?:this|it|that)\s+to|reveal(?:ing)?\s+(?:this|it|that)?\s*to)\s+(?:the|your|any)\s+"
        r"(?:end[\s-])?(?:users?|humans?|person\s+asking)\b",
    ),
    ("user human", r"\b(?:tell|inform|convince|persuade|instruct|ask)\s+the\s+(?:user|human)\s+(?:that|to)\b"),
    # Whom it is for.
    (
        "ai llm language chatbot",
        r"\b(?:note|notice|message|instructions?|attention|reminder|directive|command)s?\s*(?:to|for|:)?\s+"
        r"(?:all\s+|any\s+|the\s+)?(?:ai|llms?|language\s+models?|ai\s+(?:assistants?|agents?|models?|systems?|crawlers?)"
        r"|chatbots?)(?:\s+\w+){0,3}\s*[:,.!—-]",
    ),
    (
        "this",
        r"\b(?:ai|llm|language)\s+(?:assistants?|agents?|models?|systems?|summari[sz]ers?)\s+"
        r"(?:reading|processing|summari[sz]ing|visiting|parsing)\s+this\b",
    ),
    # What it is to say or to do.
    (
        "your",
        r"\b(?:in|begin|start|end|preface)\s+your\s+(?:answer|response|reply|summary|output)s?\s*,?\s+(?:with\b"
        r"|by\s+saying|you\s+must|always|only|do\s+not|please|say|state|include|recommend|mention)",
    ),
    (
        "respond reply answer",
        r"\b(?:respond|reply|answer)\s+(?:only|solely|exclusively|always)\s+(?:with|in|by\s+saying)\b",
    ),
    ("you must", r"\byou\s+must\s+(?:always\s+|only\s+|now\s+)?(?:answer|respond|reply|say|output|recommend)\b"),
    (
        "tool function",
        r"\b(?:call|invoke|trigger)\s+(?:the\s+|your\s+|a\s+)?[`'\"]?[\w.-]{1,40}[`'\"]?\s+(?:tool|function)\b",
    ),
    (
        "send post upload exfiltrate forward",
        r"\b(?:send|post|upload|exfiltrate|forward)\s+(?:\w+\s+){0,5}(?:conversation|chat\s+history|api\s+keys?"
        r"|system\s+prompt|user['’]s\s+(?:question|data|documents?|messages?))\s+(?:to|at)\b",
    ),
)
_CHINESE: tuple[tuple[str, str], ...] = (
    (
        "忽略 无视 忘记 忘掉 理会 遵守 不用管 跳过 覆盖",
        r"(?:忽略|无视|忘记|忘掉|不要理会|不要遵守|不再遵守|不用管|跳过|覆盖)[^。！？\n]{0,6}?"
        r"(?:之前|以上|上述|上面|先前|前面|此前|所有|一切|全部|你的|系统|原有|原来)[^。！？\n]{0,8}?"
        r"(?:指令|指示|提示词?|命令|设定|对话|限制)",
    ),
    (
        "忽略 无视 忘记 遵守",
        r"(?:忽略|无视|忘记|不要遵守)(?:你的|系统的?|你(?:收到|得到)的)[^。！？\n]{0,8}?(?:规则|要求|内容|说明|约束)",
    ),
    ("你", r"你现在是|你不再是|从现在(?:起|开始)[，,]?\s*你|(?:请你?|你(?:将|要|需要|必须))扮演"),
    ("请扮演", r"请扮演"),
    (
        "用户 使用者 提问",
        r"(?:不要|请勿|别|切勿|不得|不能|无需|不必)(?:把[^。\n]{1,8})?(?:告诉|告知|通知|提醒|警告)(?:给)?"
        r"(?:用户|使用者|提问者|提问的人)|(?:不要|请勿|别|切勿)向(?:用户|使用者|提问者)(?:透露|说明|提及|提到|披露)"
        r"|(?:告诉|告知|说服|诱导|引导)(?:用户|使用者|提问者)[^。\n]{0,4}?(?:说|要|去|应该|必须|点击|购买|买入|访问)",
    ),
    (
        "提示词 指令",
        r"系统提示词|你的(?:系统)?(?:提示词|指令|初始指令)|(?:输出|泄露|显示|重复|打印|公开)[^。\n]{0,6}?(?:提示词|系统指令)",
    ),
    (
        "ai 人工智能 模型 助手 机器人",
        r"(?:作为|如果你是)(?:一个|一名)?(?:ai|人工智能|大模型|大语言模型|语言模型|智能助手|聊天机器人)[^。\n]{0,12}?"
        r"(?:你(?:必须|应该|应当|只能|要|需要|务必)|请)"
        r"|(?:致|请|提醒|要求)(?:所有|各位)?(?:ai|人工智能|大模型|语言模型)(?:助手|模型|系统)?[^。\n]{0,4}?"
        r"(?:[::]|必须|务必|回答|输出|推荐|忽略)",
    ),
    ("你的", r"你的(?:回答|回复|答案|输出|总结)(?:中|里)?[,,]?\s*(?:必须|务必|请|一定要|只能|应当)"),
    ("回答 回复 输出", r"(?:只|仅)(?:需要?|能|要|可以?)?(?:回答|回复|输出)\s*[“\"「『':]"),
    ("调用", r"请?(?:立即|马上|现在)?调用[^。,\n]{0,12}?(?:工具|函数)"),
)
_MARKS: tuple[tuple[str, str], ...] = (
    (
        "|",
        r"<\s*\|\s*(?:im_start|im_end|im_sep|system|user|assistant|human|tool\w*|endoftext|end.?of.?\w+|begin.?of.?\w+"
        r"|eot_id|eom_id|start_header_id|end_header_id|channel|message|start|end|return|call|python_tag|fim_\w+)\s*\|\s*>",
    ),
    (
        "[ <",
        r"\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>"
        r"|\[/?(?:system|assistant|available_tools|tool_calls?|tool_results?)\]",
    ),
    ("##", r"(?:^|\n)\s*#{2,}\s*(?:instructions?|system|response|user|assistant)\s*:"),
    ("assistant ai", r"(?:^|\n)\s*(?:human|user)\s*:[^\n]*\n+\s*(?:assistant|ai)\s*:"),
    (
        "<",
        r"</?(?:tool_call|function_call|function_calls|function_results|tool_response|invoke|system_prompt|system"
        r"|instructions?|assistant|user_query|scratchpad|thinking)\b[^>\n]{0,80}>",
    ),
    (
        "{",
        r"\{\s*\"(?:name|tool|function|action)\"\s*:\s*\"[\w.-]+\"\s*,\s*"
        r"\"(?:arguments|parameters|args|input|action_input)\"\s*:",
    ),
    ("tool_call", r"\"tool_calls?\"\s*:"),
)
_TWO_WORDS = ("you are", "from now on", "act as", "you must")
_PATTERNS = tuple(
    ((needs,) if needs in _TWO_WORDS else tuple(needs.split()), re.compile(pattern))
    for needs, pattern in (*_ENGLISH, *_CHINESE, *_MARKS)
)
"""Words of which a passage must hold one for a pattern to be tried, in lower case: looking for these is a hundred times
faster, and most passages hold few of them."""
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
"""Unicode tag characters: text that models read and people do not see."""
_SPACES = re.compile(r"[^\S\n]+")


def reads_like_instructions(text: str) -> bool:
    """Whether a passage holds something that reads like an instruction to a machine, in English or Chinese."""
    if _TAGS.search(text):
        return True
    # Full-width and invisible characters are a common disguise.
    plain = _SPACES.sub(" ", _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))).lower()
    flat = plain.replace("\n", " ")
    return any(any(word in flat for word in needed) and pattern.search(plain) for needed, pattern in _PATTERNS)

"""Words of a question that a passage need not repeat: those of asking, and those that help without deciding."""

from __future__ import annotations

from quelea_fintext.text import stem

QUESTION_WORDS = frozenset(
    stem(word)
    for word in """report reported reports disclose disclosed state stated mention mentioned announce announced provide
    provided reveal revealed show shown detail details detailed specific specifically significant significantly major
    main primary chief principal key important recent recently newest latest current currently previous last prior
    compare compared comparison relate relation measure suggest insight insights reflect indicate identify
    identified outline outlined highlight highlighted describe described explain discuss discussed information
    according based document filing form statement statements financial company corporation inc much many number
    amount figure figures value values total
    generate generated contribute contributed attribute attributed spend spent allocate allocated invest invested
    make made get give given tell find anything something particularly especially term terms activity activities
    across might per section area observe observed notable notably substantial substantially connection
    regard regarding respect analysis 10 q k quarter quarterly year annual annually fiscal month period
    three six nine twelve end ended first second third fourth q1 q2 q3 q4 h1 h2
    分析 公司 报告 报告期 报告期内 年报 季报 半年报 年度 季度 年 月 日 上半年 下半年
    财年 会计年度 去年 上年 同期 去年同期 上年同期 比 净 总净 总 总共 一共 共有 共 分别
    一季度 二季度 三季度 四季度 第一季度 第二季度 第三季度 第四季度 近期 最近 最新 目前 当前 情况 信息
    说明 介绍 具体 主要 相关 有关 内容 披露 数据 金额 数值 期末 期初 年末 年初 年底 请 告诉
    元 万元 亿元 为 时 股份有限公司 有限公司 同比 原因 影响 可能 方面 认为 看 应该 对于 给 其 之间 以来
    是不是 他们 她们 它们 我们 你们 因 使 使得 里面 或者 还是 以及 及其 来 应 会 又 如 更 很 非 这些 那些 其他 类似 尤其
    似乎 提到 意味着 同时 能够 能否 可以 带给 对此 那么 这样 这种 一些 不断 进行 有关于 呢 吗""".split()
)
"""Words of asking, of filings and of time: what a passage need not repeat to be the answer."""

WEAK_WORDS = frozenset(
    stem(word)
    for word in """change changes changed increase increased decrease decreased growth grow grew grown rise rose risen
    fall fell fallen decline declined drop dropped gain gained higher lower more less fewer larger smaller up down
    trend effect affect impact influence influencing
    driver factor reason cause risk level levels performance focus strategy strategic potential liability
    percentage percent proportion share rate ratio breakdown various other difference average
    fluctuate fluctuated shift movement status position new newly emerging historical market
    demand 变化 变动 增长 增加 下降 下滑 减少 上升 上涨 提高 降低 多 少 高 低 增速 增幅 降幅
    趋势 占比 比例 比重 因素 措施 策略 前景
    不 新 重要 至关重要 需要 产生 直接 间接 开始 反映 改变 采取 得到 确保 行业 市场 产业 企业 未来 长期 短期 快速
    作用 意义 关键 机会 挑战 发展 投资者 标准 水平 综合 能力 表现""".split()
)
"""Words that help but do not decide."""

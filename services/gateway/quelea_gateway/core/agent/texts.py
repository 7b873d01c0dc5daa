"""What a run says to its user, in English and Chinese."""

from __future__ import annotations

_TEXTS = {
    "no_conclusion": ("The analysis ended before a conclusion was reached: {why}", "分析在得出结论之前结束：{why}"),
    "ended_early": ("The analysis ended before a conclusion was reached.", "分析在得出结论之前结束。"),
    "found": ("What was found until then:", "此前得到的内容："),
    "nothing": ("Nothing that answers the question was found.", "没有找到可以回答该问题的内容。"),
    "output_of": ("Output of step {step} [{number}]:", "第 {step} 步的输出 [{number}]："),
    "all_withheld": (
        "The evidence supports none of the statements; the sources show what was found.",
        "没有任何陈述能得到证据支持；来源列出了已找到的内容。",
    ),
    "steps": ("all {n} steps were used.", "已用完全部 {n} 个步骤。"),
    "time": ("the time was used up.", "时间已用完。"),
    "tokens": ("the token budget was used up.", "令牌预算已用完。"),
    "model_away": ("the language model did not answer.", "语言模型没有响应。"),
    "no_answer": ("the language model gave no answer that can be used.", "语言模型没有给出可用的回答。"),
    "repeats": ("the same actions were chosen again and again.", "反复选择了相同的行动。"),
    "missing": ("Missing:", "缺少："),
    "plan": ("Plan", "计划"),
    "step": ("Step {n}: {action}", "第 {n} 步：{action}"),
    "ended_with": ("ended with: {reason}", "结束状态：{reason}"),
    "not_done": ("Not done: {task}", "未完成：{task}"),
    "recorded_data": ("The data was recorded: {note}", "所用数据为录制数据：{note}"),
    "withheld": (
        "{n} statement(s) with figures that nothing supports were left out.",
        "省略了 {n} 条数字没有依据的陈述。",
    ),
    "done_before": (
        "This was done in step {n} already, and the result would be the same. Choose another action, or finish.",
        "第 {n} 步已经做过完全相同的行动，结果不会改变。请选择其他行动，或结束。",
    ),
    "code_before": (
        "This code was run in step {n} already, and the result would be the same.",
        "第 {n} 步已经运行过完全相同的代码，不会有新的结果。",
    ),
    "not_written": ("No code that can be run was written.", "没有写出可以运行的代码。"),
    "not_in_time": ("It did not answer in time.", "没有及时响应。"),
    "failed": ("It failed: {why}", "失败：{why}"),
    "no_web": ("No web search is configured.", "此处没有互联网搜索。"),
    "nothing_found": ("Nothing was found.", "没有找到任何内容。"),
    "nothing_new": ("Nothing new was found.", "没有找到新的内容。"),
    "no_figures": (
        "No stored statement has this of {company}. Companies of the stored documents: {names}.",
        "已入库的报表中没有{company}的相应数字。已入库文档涉及的公司：{names}。",
    ),
    "figures_cut": ("{n} more figures were left out; ask for fewer.", "另有 {n} 个数字未列出，请缩小范围。"),
    "no_catalogue": ("No catalogue of APIs is configured.", "此处没有接口目录。"),
    "no_api_found": ("No API was found for that.", "没有找到合适的接口。"),
    "apis_found": (
        "APIs that may fit, the best first; the documents of the first ones are known now, api-details reads others:",
        "可能合适的接口，最合适的在前；前几个的文档已可查看，其他的用 api-details 查看：",
    ),
    "catalogue_not_ready": (
        "The catalogue of APIs is still being indexed; choose this again later, or do without.",
        "接口目录仍在建立索引；请稍后再次选择，或先不用它。",
    ),
    "document_read": (
        "The document of {api} is now among the known ones.",
        "{api} 的文档已加入已知文档。",
    ),
    "no_such_api": (
        "There is no API {api!r}. Use api-select to find one.",
        "没有接口 {api!r}。请用 api-select 查找。",
    ),
    "printed_nothing": ("The code ran and printed nothing.", "代码已运行，但没有输出。"),
    "no_code": ("Code could not be run: {why}", "无法运行代码：{why}"),
    "no_door": ("Market data could not be reached: {why}", "无法获取市场数据：{why}"),
    "door_refused": (
        "The market-data door refused {method} {url}: {why}. Whatever the library returned instead is no data.",
        "市场数据通道拒绝了 {method} {url}：{why}。库返回的任何替代内容都不是数据。",
    ),
    "call_failed": (
        "The provider did not answer {method} {url}: {why}.",
        "数据提供方没有响应 {method} {url}：{why}。",
    ),
    "untraced_output": (
        "Part of this output is computed from numbers that were typed into the code ({numbers}); it is no evidence. "
        "Read them from evidence.json with figure(), or from an API.",
        "部分输出是由直接写入代码的数字（{numbers}）算出的，不能作为证据。"
        "请用 figure() 从 evidence.json 读取，或通过接口取得。",
    ),
    "not_traced": (" (not traced)", "（来源未追溯）"),
    "untraced": (
        "{n} figure(s) marked as not traced rest on numbers that were typed into the code, which no source has.",
        "标为“来源未追溯”的 {n} 个数字依据的是写入代码的数字，没有来源。",
    ),
    "last_step": (
        "This is the last step ({why}): conclude with what there is, and say what is missing.",
        "这是最后一步（{why}）：请根据已有内容得出结论，并说明缺少什么。",
    ),
    "unsupported": (
        "These figures are not in the evidence, or were only typed into the code: {figures}. "
        "Leave them out or correct them.",
        "以下数字不在任何证据中，或只是写在代码里：{figures}。请删去或改正。",
    ),
}


def say(name: str, language: str, **values: object) -> str:
    """A text in a language."""
    return _TEXTS[name][1 if language == "zh" else 0].format(**values)

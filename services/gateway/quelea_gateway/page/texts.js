// Every word of the page, in English and Chinese.

import { ADMIN_TEXTS } from "./admintexts.js";
import { AGENT_TEXTS } from "./agenttexts.js";
import { ASK_TEXTS } from "./asktexts.js";
import { COMPANY_TEXTS } from "./companytexts.js";
import { EVALUATION_TEXTS } from "./evaluationtexts.js";
import { VIEWER_TEXTS } from "./viewertexts.js";

const TEXTS = {
  ...ADMIN_TEXTS,
  ...AGENT_TEXTS,
  ...ASK_TEXTS,
  ...COMPANY_TEXTS,
  ...EVALUATION_TEXTS,
  ...VIEWER_TEXTS,
  skip: ["Skip to the content", "跳到正文"],
  sections: ["Sections", "栏目"],
  language: ["Language", "语言"],
  tabAsk: ["Ask", "提问"],
  tabDocuments: ["Documents", "文档"],
  askTitle: ["Ask your documents", "向你的文档提问"],
  question: ["Question", "问题"],
  askPlaceholder: ["Ask about a company, a period or a figure …", "询问公司、报告期或某个数字……"],
  asOf: ["As of", "截至日期"],
  asOfHelp: ["Answer as of this day; empty: today", "提问的日期，空为今天"],
  ask: ["Ask", "提问"],
  stop: ["Stop", "停止"],
  clear: ["New conversation", "新对话"],
  extractive: ["Extractive reader: exact quotes, no language model.", "摘录式阅读器：仅逐字引用原文，不使用语言模型。"],
  model: ["Language model: {model}. Its answers are checked against the sources.", "语言模型：{model}，其回答会与来源核对。"],
  readerAway: ["The reader is not available.", "阅读器暂不可用。"],
  readerShort: ["extractive reader", "摘录式阅读器"],
  modelShort: ["language model {model}", "语言模型 {model}"],
  searching: ["Searching the documents …", "正在检索文档……"],
  writing: ["Writing the answer …", "正在生成回答……"],
  quotesMeanwhile: ["Writing the answer … meanwhile, from the sources:", "正在生成回答……以下先列出来源原文："],
  answered: ["The answer is ready, with {n} sources.", "回答已完成，共 {n} 处来源。"],
  declinedDone: ["The documents do not answer this question.", "文档中没有答案。"],
  stopped: ["Stopped.", "已停止。"],
  reading: ["reading: {text}", "检索：{text}"],
  readingAll: ["reading: all documents", "检索：全部文档"],
  sources: ["Sources", "来源"],
  further: ["Further reading ({n})", "延伸阅读（{n}）"],
  lookedAt: ["Passages considered ({n})", "检索到的内容（{n}）"],
  evidenceFound: ["Evidence found", "已检索到的内容"],
  cite: ["Source {n}: {title}, page {page}", "来源 {n}：{title}，第 {page} 页"],
  pageShort: ["p. {page}", "第 {page} 页"],
  pageOf: ["Page {page} of {pages}", "第 {page} 页，共 {pages} 页"],
  pages: ["{n} pages", "{n} 页"],
  page1: ["1 page", "1 页"],
  passages: ["{n} passages", "{n} 个段落"],
  published: ["published {date}", "发布于 {date}"],
  took: ["{seconds} s", "{seconds} 秒"],
  web: ["web", "网络"],
  "type_research report": ["research report", "研究报告"],
  "type_annual report": ["annual report", "年度报告"],
  type_news: ["news", "新闻"],
  type_regulation: ["regulation", "法规"],
  fetched: ["fetched {date}", "抓取于 {date}"],
  expires: ["refreshed on {date}", "{date} 重新读取"],
  original: ["Original at {host}", "原网页（{host}）"],
  chartOf: ["Chart: {names}", "图：{names}"],
  chartSave: ["Save as PNG", "保存为PNG"],
  chartFailed: ["The chart could not be drawn.", "无法绘制图表。"],
  figureFacts: ["Facts behind the figures", "数字所依据的数据"],
  scanned: ["read from a scan", "由扫描件识别"],
  stated: ["{uri} (as stated by the uploader)", "{uri}（上传者所述）"],
  originalPage: ["Original page", "原网页"],
  addPage: ["Add to the knowledge base", "加入知识库"],
  webPending: ["awaiting approval", "等待批准"],
  webKept: ["being added to the knowledge base", "正在加入知识库"],
  route: ["Search", "检索范围"],
  chooseAuto: ["Web if needed", "需要时上网"],
  chooseLocal: ["Documents only", "仅限文档"],
  chooseWeb: ["Always the web", "始终上网"],
  routeTaken: ["Answered from {taken}", "回答依据：{taken}"],
  routeSearched: ["Searched {taken}", "已检索{taken}"],
  routeLocal: ["the documents", "文档"],
  routeWeb: ["the documents and the web", "文档与网络"],
  gatePassed: ["their evidence is enough", "文档证据充分"],
  gateDoubted: ["their evidence may not be enough", "文档证据可能不足"],
  gateFailed: ["the documents alone are not enough", "仅靠文档证据不足"],
  gate_calibrated: ["probability that the documents answer", "文档足以回答的概率"],
  gate_cosine: ["best cosine", "最高余弦相似度"],
  gateVerdict: ["{name}: {value} {sign} {threshold}", "{name}：{value} {sign} {threshold}"],
  webRead: ["{n} web pages read, found by {provider}", "读取了 {n} 个网页（{provider}）"],
  webReadCached: ["{n} web pages read, found by {provider} (cached results)", "读取了 {n} 个网页（{provider}，缓存结果）"],
  webPageKept: ["being added to the knowledge base: {url}", "正在加入知识库：{url}"],
  webPageWaits: ["awaiting approval: {url}", "等待批准：{url}"],
  webProblem: ["not read: {problem}", "未能读取：{problem}"],
  webPages: ["{n} web pages", "网页 {n} 个"],
  webNone: ["No web pages yet.", "这里还没有网页。"],
  usefulFor: ["useful for: {query}", "曾用于回答：{query}"],
  state: ["State", "状态"],
  state_all: ["all", "全部"],
  state_pending: ["awaiting approval", "等待批准"],
  state_kept: ["kept", "已保留"],
  state_rejected: ["rejected", "已拒绝"],
  state_vanished: ["vanished", "已失效"],
  approve: ["Approve", "批准"],
  reject: ["Reject", "拒绝"],
  pageAddress: ["Address of a web page", "网页地址"],
  addAddress: ["Add page", "添加网页"],
  aboutTitle: ["Details for the next upload", "补充下一次上传的信息"],
  company: ["Company", "公司"],
  ticker: ["Ticker", "证券代码"],
  documentType: ["Type", "类型"],
  period: ["Period", "报告期"],
  publishedOn: ["Published", "发布日期"],
  asOfShort: ["as of {date}", "截至 {date}"],
  checksPassed: ["Checked: citations, quotes and figures hold", "已核对：引用、原文与数字一致"],
  check_citations_resolve: ["A citation does not resolve", "有引用无法对应"],
  check_quotes_verbatim: ["A quote is not verbatim", "有引文与原文不一致"],
  check_figures_supported: ["A figure is not in its sources", "有数字未见于来源"],
  check_sentences_supported: ["A sentence has no support", "有句子没有资料支持"],
  check_markers_right: ["Citation markers were corrected", "引用标记已更正"],
  check_language: ["Not in the question's language", "回答语言与问题不同"],
  strict: ["Strict", "严格"],
  strictHelp: [
    "Leave out sentences with a figure that the evidence does not support",
    "不显示含有未经资料支持的数字的句子",
  ],
  derived: ["computed: {formula}", "计算得出：{formula}"],
  figure_contradicted: ["the evidence says otherwise", "与资料不符"],
  figure_not_traced: ["rests on numbers that were typed into code", "依据写在代码中的数字"],
  figure_not_found: ["not found in the evidence", "未见于资料"],
  sentence_contradicted: ["The evidence says otherwise", "资料的说法与这句话不符"],
  sentence_not_found: ["Nothing in the evidence supports this sentence", "资料中没有内容支持这句话"],
  flag_contradicted: ["contradicted", "与资料不符"],
  flag_not_found: ["not found", "未见于资料"],
  sentences: ["Sentences: {parts}", "逐句核对：{parts}"],
  comma: [", ", "，"],
  verdicts_supported: ["{n} supported", "{n} 句有依据"],
  verdicts_partly: ["{n} in part", "{n} 句部分有依据"],
  verdicts_contradicted: ["{n} contradicted", "{n} 句与资料不符"],
  verdicts_not_found: ["{n} not found", "{n} 句未见于资料"],
  verdict_supported: ["supported", "有依据"],
  verdict_partly: ["supported in part", "部分有依据"],
  verdict_contradicted: ["contradicted by the evidence", "与资料不符"],
  verdict_not_found: ["not found in the evidence", "未见于资料"],
  withheld: ["Withheld, the evidence does not bear it out ({n})", "因资料不支持而未显示（{n}）"],
  alsoSearched: ["also searched for {n}", "另外检索了 {n} 条"],
  understoodAs: ["understood as: {question}", "理解为：{question}"],
  by_model: ["rewritten by the language model", "由语言模型改写"],
  by_rules: ["completed from the conversation by rules", "根据对话按规则补全"],
  copyMarkdown: ["Copy as Markdown", "复制为 Markdown"],
  saveMarkdown: ["Download", "下载"],
  save_docx: ["Word", "Word"],
  save_pdf: ["PDF", "PDF"],
  save_xlsx: ["Excel", "Excel"],
  making: ["Writing the file …", "正在生成文件……"],
  copied: ["Copied.", "已复制。"],
  thumb_up: ["This answer helped", "回答有帮助"],
  thumb_down: ["This answer did not help", "回答没有帮助"],
  thumbWhy: ["Why? (you need not say)", "原因（可不填）"],
  thumbSend: ["Send", "发送"],
  thumbThanks: ["Stored, thank you.", "已保存，谢谢。"],
  close: ["Close", "关闭"],
  previousPage: ["Previous page", "上一页"],
  nextPage: ["Next page", "下一页"],
  openPage: ["Open in its own page", "单独打开"],
  pageText: ["Text of the page", "页面文字"],
  documentsTitle: ["Documents", "文档"],
  formats: ["{formats}, up to {size} each.", "支持 {formats}，单个文件不超过 {size}。"],
  dropHere: ["Drop files here, or", "将文件拖放到此处，或"],
  chooseFiles: ["Choose files", "选择文件"],
  uploads: ["Uploads", "上传"],
  documentsCount: ["{n} in the knowledge base", "知识库中共 {n} 份"],
  documentsNone: ["The knowledge base is empty. Add the first document above.", "知识库还是空的，请在上方添加第一份文档。"],
  more: ["Show more", "显示更多"],
  delete: ["Delete", "删除"],
  deleteOne: ["Delete {title}", "删除 {title}"],
  cancel: ["Cancel", "取消"],
  deleteTitle: ["Delete this document?", "删除这份文档？"],
  deleteForget: ["Also from everybody's saved answers, with its quotes (needs the right to manage the collection)", "同时从所有人已保存的回答中删除其引文（需要管理该集合的权限）"],
  deleteUnread: ["The document is deleted. Its words stay in saved answers or thumbs that could not be read ({n}); the gateway's log names the files. Once they are mended, an administrator can delete it from them.", "文档已删除，但有 {n} 条已保存的回答或评价无法读取，其中仍保留其内容；网关日志列出了这些文件，修复后可由管理员再次删除。"],
  deleteText: ["“{title}” and everything that was indexed from it will be removed.", "将删除“{title}”及其全部索引内容。"],
  sending: ["Sending … {percent} %", "正在发送……{percent}%"],
  queued: ["Waiting", "等待中"],
  stage_fetch: ["Reading the file", "读取文件"],
  stage_parse: ["Reading pages", "解析页面"],
  stage_chunk: ["Splitting into passages", "切分段落"],
  stage_index: ["Indexing", "建立索引"],
  running: ["Working", "处理中"],
  progress: ["{stage} · {done} of {total} pages", "{stage} · {done}/{total} 页"],
  succeeded: ["In the knowledge base", "已加入知识库"],
  fetch: ["Fetch", "获取"],
  fetchLooking: ["Looking up what has been filed …", "正在查找已披露的文件……"],
  askAgain: ["Ask again", "再次提问"],
  unchanged: ["Already in the knowledge base, unchanged", "已在知识库中，无变化"],
  failed: ["Failed: {error}", "失败：{error}"],
  refused: ["Rejected: {error}", "未接收：{error}"],
  keyTitle: ["API key required", "需要密钥"],
  keyText: ["This gateway requires an API key. It is kept in this tab only.", "此网关需要 API 密钥，密钥仅保存在当前标签页。"],
  keyLabel: ["API key", "API 密钥"],
  keySave: ["Continue", "继续"],
  signInTitle: ["Sign in", "登录"],
  signInText: ["Sign in with your organisation's account, or use an API key, which is kept in this tab only.", "使用您所在机构的账号登录，或使用仅保存在当前标签页的 API 密钥。"],
  signIn: ["Sign in", "登录"],
  signOut: ["Sign out", "退出登录"],
  orKey: ["or", "或"],
  tenantOf: ["Tenant: {tenant}", "租户：{tenant}"],
  signInForbidden: ["You were not let in: you cancelled, or none of your groups may use Quelea.", "未能登录：您取消了登录，或您所在的组无权使用 Quelea。"],
  signInFailed: ["Signing in did not work; please try again.", "登录失败，请重试。"],
  keyWrong: ["Unknown API key.", "密钥无效。"],
  offline: ["The gateway is not responding. Check that it is running.", "网关没有响应，请确认其正在运行。"],
  stateReady: ["Ready", "就绪"],
  stateDown: ["Not available: {names}", "不可用：{names}"],
  try: ["Try", "试试"],
  readerFailed: ["The answer could not be written. The evidence found is below.", "未能生成回答，检索到的内容见下。"],
  error_INVALID_INPUT: ["", "请求有误："],
  error_TOO_LARGE: ["", "超出限制："],
  error_NOT_FOUND: ["", "不存在："],
  error_CONFLICT: ["", "当前无法执行："],
  error_PERMISSION_DENIED: ["", "没有权限："],
  error_OVERLOADED: ["", "请求过多："],
  error_DEADLINE_EXCEEDED: ["", "处理超时："],
  error_UNAVAILABLE: ["", "服务暂不可用："],
  error_INTERNAL: ["", "内部错误："],
  service_gateway: ["gateway", "网关"],
  service_retriever: ["retriever", "检索服务"],
  service_search: ["search", "入库与搜索服务"],
  service_generator: ["generator", "生成服务"],
  endedOn: ["{what} ended {date}", "截至{date}的{what}"],
  span_quarter: ["quarter", "季度"],
  span_year: ["year", "财年"],
  allDocuments: ["all documents", "全部文档"],
  retry: ["Try again in {seconds} s.", "请在 {seconds} 秒后重试。"],
};

const EXAMPLES = {
  en: [
    "What were the company's total net sales in the latest quarter?",
    "How did services revenue change from a year earlier?",
  ],
  zh: ["公司前三季度的营业收入是多少？", "研发费用占营业收入的比例是多少？"],
};

const stored = localStorage.getItem("quelea.language");
let language = stored ?? (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");

export const current = () => language;
export const examples = () => EXAMPLES[language];

/** The text of a name, with {values} filled in. */
export function t(name, values = {}) {
  const pair = TEXTS[name];
  const text = pair ? pair[language === "zh" ? 1 : 0] : name;
  return text.replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));
}

/** "2026-11-22 01:50" of RFC 3339. */
export const moment = (stamp) => (stamp ?? "").slice(0, 16).replace("T", " ");

export const has = (name) => name in TEXTS;

/** Fill every element that names its text. */
export function apply(root = document) {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  for (const node of root.querySelectorAll("[data-t]")) node.textContent = t(node.dataset.t);
  for (const node of root.querySelectorAll("[data-label]")) {
    node.setAttribute("aria-label", t(node.dataset.label));
    if (node.tagName === "BUTTON") node.title = t(node.dataset.label);
  }
  for (const node of root.querySelectorAll("[data-title]")) node.title = t(node.dataset.title);
  for (const node of root.querySelectorAll("[data-placeholder]")) node.placeholder = t(node.dataset.placeholder);
}

export function setLanguage(next) {
  language = next;
  localStorage.setItem("quelea.language", next);
  apply();
  document.dispatchEvent(new CustomEvent("language"));
}

/** A document's type in the reader's language; one that is not known here as it is. */
export const typeText = (type) => (has(`type_${type}`) ? t(`type_${type}`) : type);

/** What the retriever read out of a question, which it says in English, in the reader's language. */
export function readingText(text) {
  if (language === "en") return text;
  const day = (date) => new Intl.DateTimeFormat("zh-CN", { dateStyle: "long", timeZone: "UTC" }).format(new Date(`${date} UTC`));
  return text
    .replace(/(quarter|year) ended ([A-Z][a-z]+ \d{1,2}, \d{4})/g, (_, what, date) => t("endedOn", { what: t(`span_${what}`), date: day(date) }))
    .replace(/(^|· )all documents(?=;|$)/g, `$1${t("allDocuments")}`);
}

// The words of the original beside the text, in English and Chinese.

export const VIEWER_TEXTS = {
  viewerTitle: ["The original", "原文件"],
  viewerShow: ["Original beside", "并排显示原文件"],
  viewerDownload: ["Download", "下载"],
  viewerLarger: ["Larger", "放大"],
  viewerSmaller: ["Smaller", "缩小"],
  viewerFit: ["Fit the width", "适合宽度"],
  viewerLoading: ["Opening the original …", "正在打开原文件……"],
  viewerFound: ["The quote is marked.", "引文已标出。"],
  viewerPartly: ["{percent}% of the quote is marked; the rest is printed otherwise.", "已标出引文的 {percent}%，其余部分的排印方式不同。"],
  viewerNotFound: ["The quote is not printed like this; see the text.", "原文件中没有同样排印的引文，请看文本。"],
  viewerScan: ["This page is a scan, and no OCR is installed that could say where its text stands.", "本页是扫描件，且未安装可标出文字位置的 OCR。"],
  viewerUnmarked: ["The quote could not be marked: {why}", "无法标出引文：{why}"],
  viewerFailed: ["The original cannot be shown: {why}", "无法显示原文件：{why}"],
  viewerPage: ["Page {page} of the PDF", "PDF 第 {page} 页"],
  viewerFrame: ["The document as it was filed", "文件原貌"],
};

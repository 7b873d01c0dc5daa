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
  viewerScan: ["This page is a scan: the text was read from its picture, so no place can be marked.", "本页是扫描件：文字由图像识别得出，无法标出位置。"],
  viewerFailed: ["The original cannot be shown: {why}", "无法显示原文件：{why}"],
  viewerPage: ["Page {page} of the PDF", "PDF 第 {page} 页"],
  viewerFrame: ["The document as it was filed", "文件原貌"],
};

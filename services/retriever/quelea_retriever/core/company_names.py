"""Well-known listed companies, as people write them in English and Chinese. Names only; nothing about any document.

One line each: display name | ticker (or none) | other names, separated by commas.
"""

from __future__ import annotations

WELL_KNOWN = """
3M|MMM|3M公司
AbbVie|ABBV|艾伯维
Abbott|ABT|Abbott Laboratories,雅培
Accenture|ACN|埃森哲
Activision Blizzard|ATVI|Activision,动视暴雪
Adobe|ADBE|奥多比
AES|AES|AES Corporation
Airbnb|ABNB|爱彼迎
Alibaba|BABA|Alibaba Group,阿里巴巴,阿里
Alphabet|GOOGL|Google,GOOG,谷歌
Amazon|AMZN|Amazon.com,亚马逊
AMD|AMD|Advanced Micro Devices,超威半导体,超微半导体
Amcor|AMCR|
American Airlines|AAL|美国航空
American Express|AXP|AMEX,Amex,美国运通
American Water Works|AWK|American Water
Amgen|AMGN|安进
Apple|AAPL|苹果公司,苹果
Applied Materials|AMAT|应用材料
ASML|ASML|阿斯麦
AstraZeneca|AZN|阿斯利康
AT&T|T|美国电话电报公司
Autodesk|ADSK|欧特克
Baidu|BIDU|百度
Bank of America|BAC|BofA,美国银行,美银
Bank of China|601988|中国银行股份
Berkshire Hathaway|BRK.B|Berkshire,BRK.A,伯克希尔·哈撒韦,伯克希尔哈撒韦,伯克希尔
Best Buy|BBY|百思买
BHP|BHP|必和必拓
Bilibili|BILI|哔哩哔哩,B站
BlackRock|BLK|贝莱德
Block|SQ|Block Inc
BMW|BMW|宝马
Boeing|BA|波音
Booking Holdings|BKNG|Booking.com
BP|BP|英国石油
Bristol Myers Squibb|BMY|Bristol-Myers Squibb,百时美施贵宝
Broadcom|AVGO|博通
BYD|002594|比亚迪
Caterpillar|CAT|卡特彼勒
CATL|300750|宁德时代,Contemporary Amperex
Charles Schwab|SCHW|Schwab,嘉信理财
Chevron|CVX|雪佛龙
China Evergrande|3333|Evergrande,恒大,中国恒大
China Merchants Bank|600036|招商银行
China Mobile|600941|中国移动
Ping An|601318|Ping An Insurance,中国平安
China Vanke|000002|Vanke,万科
Cisco|CSCO|Cisco Systems,思科
Citigroup|C|Citi,Citibank,花旗集团,花旗
Coca-Cola|KO|Coca Cola,The Coca-Cola Company,Coke,可口可乐
Comcast|CMCSA|康卡斯特
ConocoPhillips|COP|康菲石油
Corning|GLW|康宁
Costco|COST|Costco Wholesale,好市多,开市客
Country Garden|2007|碧桂园
Credit Suisse|CS|瑞士信贷,瑞信
CVS Health|CVS|CVS
Dell|DELL|Dell Technologies,戴尔
Delta Air Lines|DAL|达美航空
Deutsche Bank|DB|德意志银行,德银
Disney|DIS|Walt Disney,The Walt Disney Company,迪士尼
DoorDash|DASH|
eBay|EBAY|
Eli Lilly|LLY|Lilly,礼来
Exxon Mobil|XOM|ExxonMobil,Exxon,埃克森美孚
FedEx|FDX|联邦快递
Foot Locker|FL|Footlocker
Ford|F|Ford Motor,福特汽车,福特
Foxconn|601138|Hon Hai,富士康,鸿海,工业富联
General Electric|GE|GE Aerospace,通用电气
General Mills|GIS|通用磨坊
General Motors|GM|通用汽车
Gilead|GILD|Gilead Sciences,吉利德
Goldman Sachs|GS|Goldman,高盛
Gree|000651|Gree Electric,格力电器,格力
Haier|600690|Haier Smart Home,海尔智家,海尔
Home Depot|HD|The Home Depot,家得宝
Honda|HMC|本田
Honeywell|HON|霍尼韦尔
HP|HPQ|HP Inc,Hewlett-Packard,Hewlett Packard,惠普
HSBC|HSBC|HSBC Holdings,汇丰
Huawei||华为
IBM|IBM|International Business Machines
ICBC|601398|Industrial and Commercial Bank of China,工商银行
Intel|INTC|英特尔
Intuit|INTU|财捷
JD.com|JD|JD,京东
Johnson & Johnson|JNJ|Johnson and Johnson,J&J,强生
JPMorgan Chase|JPM|JPMorgan,JP Morgan,J.P. Morgan,摩根大通,小摩
Kraft Heinz|KHC|卡夫亨氏
Kroger|KR|
Kweichow Moutai|600519|Moutai,贵州茅台,茅台
Lam Research|LRCX|泛林
Lenovo|0992|联想集团,联想
Li Auto|LI|理想汽车
Lockheed Martin|LMT|洛克希德·马丁,洛克希德马丁
Lowe's|LOW|Lowes,劳氏
Lucid|LCID|Lucid Group,Lucid Motors
Luckin Coffee|LKNCY|Luckin,瑞幸咖啡,瑞幸
LVMH|MC|路威酩轩
Mastercard|MA|万事达
McDonald's|MCD|McDonalds,麦当劳
Medtronic|MDT|美敦力
Meituan|3690|美团
Merck|MRK|默沙东,默克
Meta|META|Meta Platforms,Facebook,脸书
MGM Resorts|MGM|MGM Resorts International,美高梅
Micron|MU|Micron Technology,美光科技,美光
Microsoft|MSFT|微软
Midea|000333|Midea Group,美的集团,美的
Moderna|MRNA|莫德纳
Morgan Stanley|MS|摩根士丹利,大摩
Nestle|NESN|Nestlé,雀巢
NetEase|NTES|网易
Netflix|NFLX|奈飞,网飞
Nike|NKE|耐克
NIO|NIO|蔚来汽车,蔚来
Nokia|NOK|诺基亚
Novo Nordisk|NVO|诺和诺德
NVIDIA|NVDA|Nvidia,英伟达,辉达
OpenAI||
Oracle|ORCL|Oracle Corporation,甲骨文
Palantir|PLTR|
PayPal|PYPL|贝宝
PDD|PDD|PDD Holdings,Pinduoduo,拼多多
PepsiCo|PEP|Pepsi,Pepsi Co,百事可乐,百事公司
PetroChina|601857|中国石油股份,中石油
Pfizer|PFE|辉瑞
Philip Morris|PM|Philip Morris International,菲利普莫里斯
Procter & Gamble|PG|Procter and Gamble,P&G,宝洁
Qualcomm|QCOM|高通
Rivian|RIVN|
Roche|ROG|罗氏
Salesforce|CRM|赛富时
Samsung|005930|Samsung Electronics,三星电子,三星
SAP|SAP|思爱普
Saudi Aramco|2222|Aramco,沙特阿美
Shell|SHEL|Royal Dutch Shell,壳牌
Siemens|SIE|西门子
Silicon Valley Bank|SIVB|SVB Financial,硅谷银行
Sinopec|600028|中国石化,中石化
SMIC|688981|中芯国际
Snap|SNAP|Snap Inc,Snapchat
SoftBank|9984|软银
Sony|SONY|索尼
Spotify|SPOT|
Starbucks|SBUX|星巴克
T-Mobile|TMUS|T-Mobile US
Target|TGT|Target Corporation,塔吉特
Tencent|0700|Tencent Holdings,腾讯控股,腾讯
Tesla|TSLA|特斯拉
Texas Instruments|TXN|德州仪器
Toyota|TM|丰田汽车,丰田
TSMC|TSM|Taiwan Semiconductor,台积电
Uber|UBER|优步
UBS|UBS|瑞银
Ulta Beauty|ULTA|Ulta
Unilever|UL|联合利华
UnitedHealth|UNH|UnitedHealth Group,联合健康
UPS|UPS|United Parcel Service,联合包裹
Verizon|VZ|Verizon Communications,威瑞森
Visa|V|Visa Inc,维萨
Volkswagen|VOW3|大众汽车
Walgreens|WBA|Walgreens Boots Alliance,沃尔格林
Walmart|WMT|Wal-Mart,沃尔玛
Warner Bros. Discovery|WBD|Warner Bros,华纳兄弟
Wells Fargo|WFC|富国银行
Xiaomi|1810|小米集团,小米
XPeng|XPEV|小鹏汽车,小鹏
Yum China|YUMC|百胜中国
Zoom|ZM|Zoom Video
ZTE|000063|中兴通讯
"""

# Names that are also everyday words. The first set counts as a company only when it is written with a capital
# inside a sentence, or with 's or a legal form; the second only where no such word follows.
EVERYDAY = frozenset("block target shell snap zoom lucid best visa oracle ford meta alphabet gap square coke".split())
NOT_AFTER = {
    "苹果": ("期货", "现货", "种植", "产量", "汁", "价格指数", "产业园"),
    "小米": ("粥", "椒", "期货", "种植"),
    "亚马逊": ("河", "雨林", "流域"),
    "阿里": ("地区", "云栖小镇"),
    "联想": ("到", "起"),
    "三星": ("级",),
}

# Upper-case words that are tickers somewhere but mean something else in a finance question.
NOT_TICKERS = frozenset(
    """AI ALL AM AN AND ARE AS AT BE BY CAGR CAPEX CEO CFO CNY COGS COO CPI CSR DCF EBIT EBITDA EPS ESG ETF EU EUR FAQ
    FCF FDA FED FIFO FOR FX FY GAAP GBP GDP GPU HK HKD HKMA HR IF IFRS IN IP IPO IR IRS IS IT JPY KPI LLM LOW MA MC MS
    NOW OF ON OPEX OR PC PE PM PMI PPI PR QA RD RMB ROA ROE ROI RSU SEC SG SGA SO TV UK US USA USD VAT WHO
    YOY""".split()
)

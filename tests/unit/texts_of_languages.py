"""Short invented texts of several languages."""

ENGLISH = (
    "We propose to weigh the snow that lies on roofs and to compare it with what gauges in open fields report. A "
    "Kalman filter joins both series, as Osei and Brandt (2018) advise, and a Bayes factor decides between the models."
)
RUSSIAN = (
    "Снег на крышах взвешивают реже, чем снег на полях. Мы сравним оба ряда и построим карту нагрузки. Фильтр Калмана "
    "соединяет ряды, а критерий Байеса выбирает модель (Осей и Брандт, 2018). Белое море лежит вне района."
)
CHINESE = (
    "屋顶积雪的重量很少测量，而田野上的积雪每天都有记录。本项目将比较两种数据，并绘制荷载图。"
    "卡尔曼滤波用于合并两个序列，贝叶斯因子用于选择模型。"
)
JAPANESE = (
    "屋根に積もる雪の重さはほとんど測定されていない。本研究では二つの系列を比較し、荷重の地図を作成する。"
    "カルマンフィルタで系列を結合する。"
)
KOREAN = (
    "지붕에 쌓인 눈의 무게는 거의 측정되지 않는다. 본 연구는 두 자료를 비교하고 하중 지도를 작성한다. 칼만 "
    "필터로 두 자료를 결합한다."
)
ARABIC = (
    "لا يقاس وزن الثلج على الأسطح إلا نادرا بينما يقاس في الحقول كل يوم. سنقارن السلسلتين ونرسم خريطة للأحمال. "
    "يجمع مرشح كالمان بين السلسلتين في كل موقع من المواقع."
)
HEBREW = (
    "משקל השלג על הגגות נמדד לעתים רחוקות. נשווה את שתי הסדרות ונצייר מפה של העומסים. מסנן קלמן מחבר את הסדרות בכל אתר."
)
GERMAN = "Das Gewicht von Schnee auf Dächern wird selten gemessen. Wir vergleichen es mit dem Schnee auf den Feldern und werden eine Karte zeichnen, die für die Planung von Häusern und auch von Hallen nützlich ist."  # noqa: E501
FINNISH = "Katoilla olevan lumen paino mitataan harvoin, mutta pelloilla se mitataan joka päivä. Se on tässä se asia, joka ei ole vielä selvä, ja siksi olemme tässä. Vertaamme sarjoja ja piirrämme kartan."  # noqa: E501
TURKISH = "Çatılardaki karın ağırlığı çok az ölçülür, ama tarlalarda bu her gün için ölçülür. Bu iki seri ile bir harita çizilecek ve daha iyi bir plan olarak sunulacak ve bu da gibi."  # noqa: E501
POLISH = "Ciężar śniegu na dachach mierzy się rzadko, a na polach codziennie. Porównamy oba szeregi i narysujemy mapę, która jest dla planistów, oraz nie tylko dla nich. To się da zrobić przez rok."  # noqa: E501
CZECH = "Hmotnost sněhu na střechách se měří jen zřídka, ale na polích je to každý den. Porovnáme obě řady a nakreslíme mapu, které jsou pro plánování nebo tak, jako by se to v tom mělo."  # noqa: E501

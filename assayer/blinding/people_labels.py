"""Labels of lines and columns that name people, and phrases before a byline, in the languages in which proposals are
written."""

import re
from collections.abc import Iterable

_LABELS = {
    "English": """
        owner; owners; owned by; assign; assigned; support; supported by; project owner; proposal owner; page owner; product owner; created by; creator; last edited by;
        edited by; editor; editors; updated by; modified by; assignee; assignees; assigned to; dri; maintainer;
        maintainers; reviewer; reviewers; people; person; persons; person in charge; in charge; lead; leads; lead author;
        project lead; task lead; wp lead; wp leader; work package lead; work package leader; task leader; responsible;
        responsible person; person responsible; accountable; contact; contacts; second contact; main contact;
        first contact; primary contact; contact name; point of contact; poc; scientific contact; technical contact;
        contact person; contact persons; submitter; submitted by; proposed by; prepared by; written by; drafted by;
        compiled by; posted by; presented by; authored by; by; reported by; reporter; requested by; requester;
        requestor; approved by; signed; signed by; signature; on behalf of; from; to; cc; attn; author; authors;
        author name; author names; author(s) name; authors and affiliations; co-author; co-authors; coauthors;
        first author; corresponding author; senior author; presenting author; presenter; presenters; speaker; speakers;
        name; names; full name; name of applicant; name of the applicant; applicant name; applicant's name; applicant;
        applicants; lead applicant; main applicant; co-applicant; co-applicants; principal applicant; name of pi;
        pi name; pi; pis; co-pi; co-pis; copi; co-pi name; principal investigator; principal investigators;
        name of principal investigator; co-principal investigator; co-principal investigators; co-investigator;
        co-investigators; coinvestigator; coinvestigators; investigator; investigators; chief investigator;
        senior personnel; key personnel; personnel; key staff; staff; fellow; fellow's name; candidate; candidate name;
        nominee; student; students; student name; name of student; phd student; phd students; phd candidate;
        doctoral student; doctoral candidate; graduate student; postdoc; postdocs; research assistant;
        research assistants; supervisor; supervisors; name of supervisor; primary supervisor; co-supervisor;
        co-supervisors; second supervisor; supervised by; advisor; advisors; adviser; advisers; co-advisor; mentor;
        mentors; tutor; host; examiner; examiners; promoter; promotor; co-promotor; head; head of group; head of lab;
        lab head; group leader; team lead; team leader; team; team member; team members; project team; research team;
        the team; our team; group; research group; group members; project members; members; participants; partners; partner; collaborator; collaborators;
        coordinator; co-ordinator; coordinators; project coordinator; project leader; project manager;
        project director; director; directors; co-director; deputy; chair; secretary; organiser; organisers; organizer;
        organizers; scientist; lead scientist; chief scientist; senior scientist; scientists; researcher; researchers;
        lead researcher; research lead; principal researcher; developer; developers; contributor; contributors;
        surname; surnames; family name; last name; first name; given name; forename; referees; suggested referees; suggested reviewers;
        excluded reviewers; credits; who; player; players; champion""",
    "German": """
        antragsteller; antragstellerin; mitantragsteller; mitantragstellerin; mitantragstellende; mitverfasser; koautor;
        koautorin; koautoren; antragstellende; antragstellende person; antragstellende personen; verfasser;
        verfasserin; autor; autorin; autoren; autorinnen und autoren; betreuer; betreuerin; betreuung; erstbetreuer;
        erstbetreuerin; zweitbetreuer; zweitbetreuerin; erstgutachter; erstgutachterin; zweitgutachter; gutachter;
        gutachterin; projektleiter; projektleiterin; projektleitung; leiter; leiterin; leitung; ansprechpartner;
        ansprechpartnerin; ansprechperson; kontakt; kontaktperson; bearbeiter; bearbeiterin; mitarbeiter;
        mitarbeiterin; mitarbeitende; projektmitarbeiter; mitwirkende; beteiligte; verantwortlich; verantwortliche;
        name; name des antragstellers; name der antragstellerin; vorgelegt von; eingereicht von; verfasst von; erstellt von;
        doktorand; doktorandin; studentin; projektpartner; koordinator; koordinatorin; koordination; team""",
    "French": """
        auteur; auteure; auteurs; autrice; autrices; co-auteurs; porteur; porteuse; porteur du projet;
        porteuse du projet; co-porteur; co-porteuse; coporteur; responsable; responsable scientifique;
        responsable du projet; responsables; coordinateur; coordinatrice; coordonnateur; coordonnatrice; encadrant;
        encadrante; encadrants; co-encadrant; co-encadrante; directeur de thèse; directrice de thèse; direction;
        co-directeur de thèse; doctorant; doctorante; étudiant; étudiante; candidat; candidate; demandeur; demandeuse;
        déposant; déposante; personne de contact; contact; équipe; membres; membres de l'équipe; participants;
        partenaires; rédacteur; rédactrice; rédigé par; soumis par; présenté par; préparé par; proposé par; nom;
        nom et prénom; nom du candidat; chef de projet; investigateur principal; chercheur principal;
        chercheuse principale; tuteur; tutrice""",
    "Spanish": """
        autor; autora; autores; autoras; coautores; investigador; investigadora; investigadores; investigador principal;
        investigadora principal; investigadores principales; investigador responsable; investigadora responsable;
        coinvestigador; coinvestigadora; coinvestigadores; co-investigadores; ip; director; directora; directores; directoras; codirector;
        codirectora; codirectores; tutores; asesores; director de tesis; directora de tesis; director del proyecto; directora del proyecto; tutor; tutora;
        asesor; asesora; responsable; responsables; responsable del proyecto; coordinador; coordinadora; solicitante;
        solicitantes; persona de contacto; contacto; equipo; equipo investigador; equipo de investigación; integrantes;
        miembros; miembros del equipo; participantes; colaboradores; colaboradora; colaborador; estudiante; doctorando;
        doctoranda; alumno; alumna; tesista; nombre; nombre y apellidos; apellidos y nombre; presentado por;
        elaborado por; propuesto por; proponente; proponentes; becario; becaria; ponente; redactor; redactora""",
    "Portuguese": """
        autor; autora; autores; coautores; pesquisador; pesquisadora; pesquisadores; pesquisador responsável;
        pesquisadora responsável; pesquisador principal; pesquisadora principal; investigador responsável;
        investigadora responsável; orientador; orientadora; orientadores; coorientador; coorientadora; co-orientador;
        orientando; orientanda; coordenador; coordenadora; coordenação; coordenador do projeto; coordenadora do projeto;
        proponente; candidato; candidata; bolseiro; bolseira; bolsista; aluno; aluna; discente; docente; doutorando;
        doutoranda; mestrando; mestranda; equipe; equipa; equipe executora; equipa de investigação; membros;
        membros da equipe; participantes; colaboradores; responsável; responsáveis; contato; contacto; nome;
        nome completo; apresentado por; elaborado por; submetido por; professor responsável""",
    "Italian": """
        autore; autrice; autori; responsabile; responsabile scientifico; responsabile scientifica;
        responsabile del progetto; coordinatore; coordinatrice; proponente; proponenti; relatore; relatrice; correlatore;
        correlatrice; tutor; supervisore; referente; contatto; candidato; candidata; dottorando; dottoranda; laureando;
        laureanda; studente; studentessa; ricercatore; ricercatrice; ricercatori; partecipanti; gruppo di ricerca;
        componenti; collaboratori; nome; nome e cognome; presentato da; redatto da; a cura di; elaborato da;
        investigatore principale; capo progetto""",
    "Catalan": "investigador principal; investigadora principal; autor; autora; autors; directora; tutora; equip",
    "Dutch": """
        aanvrager; aanvragers; hoofdaanvrager; medeaanvrager; medeaanvragers; mede-aanvrager; indiener; auteur; auteurs;
        schrijver; projectleider; projectleiders; onderzoeker; onderzoekers; hoofdonderzoeker; begeleider; begeleiders;
        begeleiding; promotor; copromotor; promovendus; promovenda; contactpersoon; verantwoordelijke; naam; student;
        studente; penvoerder; ingediend door; opgesteld door; geschreven door; medewerkers; teamleden; deelnemers""",
    "Swedish": """
        sökande; huvudsökande; medsökande; projektledare; författare; handledare; bihandledare; huvudhandledare;
        kontaktperson; kontakt; ansvarig; ansvarig forskare; forskare; doktorand; deltagare; medverkande; namn;
        projektgrupp; inlämnad av; skriven av; framlagd av; student""",
    "Norwegian": """
        søker; søkere; hovedsøker; medsøker; prosjektleder; prosjektansvarlig; forfatter; forfattere; veileder;
        veiledere; biveileder; kontaktperson; ansvarlig; forsker; forskere; deltakere; stipendiat; navn; levert av;
        skrevet av; utarbeidet av""",
    "Danish": """
        ansøger; ansøgere; hovedansøger; medansøger; projektleder; projektansvarlig; forfatter; forfattere; vejleder;
        vejledere; kontaktperson; ansvarlig; forsker; deltagere; studerende; navn; udarbejdet af; skrevet af;
        indsendt af""",
    "Finnish": """
        hakija; hakijat; päähakija; vastuullinen tutkija; vastuullinen johtaja; johtaja; tutkija; tutkijat; tekijä;
        tekijät; kirjoittaja; kirjoittajat; laatija; laatijat; ohjaaja; ohjaajat; yhteyshenkilö; vastuuhenkilö; nimi;
        opiskelija; väitöskirjatutkija; työryhmä; ryhmä; projektipäällikkö; hankkeen johtaja; osallistujat; laatinut""",
    "Estonian": "taotleja; autor; autorid; juhendaja; juhendajad; vastutav täitja; projektijuht; kontaktisik; nimi",
    "Polish": """
        kierownik; kierowniczka; kierownik projektu; kierowniczka projektu; wnioskodawca; wnioskodawczyni; autor;
        autorka; autorzy; wykonawca; wykonawcy; wykonawczyni; opiekun; opiekun naukowy; promotor; promotorka;
        współwykonawcy; główny wykonawca; badacz; osoba do kontaktu; kontakt; koordynator; koordynatorka; zespół;
        zespół badawczy; członkowie zespołu; imię i nazwisko; doktorant; doktorantka; student; studentka; opracował;
        opracowała; opracowanie; przygotował; przygotowała; recenzent; sporządził""",
    "Czech and Slovak": """
        řešitel; řešitelka; řešitelé; hlavní řešitel; hlavní řešitelka; spoluřešitel; spoluřešitelka; spoluřešitelé;
        navrhovatel; navrhovatelka; autor; autorka; autoři; školitel; školitelka; vedoucí; vedoucí práce;
        vedoucí projektu; konzultant; žadatel; žadatelka; kontaktní osoba; jméno; jméno a příjmení; tým; členové týmu;
        zpracoval; zpracovala; vypracoval; vypracovala; předkládá; předkladatel; student; studentka; doktorand;
        riešiteľ; riešiteľka; zodpovedný riešiteľ; spoluriešiteľ; vedúci projektu; školiteľ; školiteľka; autori; meno;
        meno a priezvisko; vypracovala; predkladá""",
    "Hungarian": """
        vezető kutató; kutatásvezető; témavezető; témavezetők; szerző; szerzők; pályázó; pályázók; projektvezető;
        kutató; kutatók; résztvevő kutatók; résztvevők; kapcsolattartó; konzulens; név; hallgató; doktorandusz;
        készítette; írta; benyújtotta; mentor; társkutatók""",
    "Romanian": """
        autor; autori; autoare; director de proiect; director proiect; responsabil; responsabil științific;
        coordonator; coordonator științific; îndrumător; conducător științific; candidat; doctorand; doctorandă;
        student; studentă; persoană de contact; nume; nume și prenume; echipa; echipa de cercetare; membri;
        membrii echipei; elaborat de; întocmit de; propus de""",
    "Southern Slavic": """
        voditelj projekta; voditeljica projekta; voditelj; voditeljica; autori; autorica; avtor; avtorica; avtorji;
        mentor; mentorica; istraživač; istraživači; suradnici; predlagatelj; podnositelj; rukovodilac projekta;
        vodja projekta; raziskovalci; ime i prezime; ime in priimek; kontakt osoba; student; studentica; somentor""",
    "Baltic": """
        projekto vadovas; projekto vadovė; vadovas; vadovė; autorius; autorė; autoriai; vykdytojai; pareiškėjas;
        projekta vadītājs; projekta vadītāja; vadītājs; vadītāja; autors; autore; izpildītāji; pieteicējs""",
    "Turkish": """
        hazırlayan; hazırlayanlar; yürütücü; proje yürütücüsü; yürütücüsü; araştırmacı; araştırmacılar; danışman;
        danışmanı; tez danışmanı; eş danışman; yazar; yazarlar; başvuran; başvuru sahibi; proje ekibi; ekip; ekip üyeleri;
        proje sorumlusu; sorumlu; sorumlu araştırmacı; iletişim; iletişim kişisi; öğrenci; adı soyadı; ad soyad; isim;
        koordinatör; bursiyer; bursiyerler; sunan; katılımcılar; yardımcı araştırmacı""",
    "Azerbaijani": "müəllif; müəlliflər; layihə rəhbəri; rəhbər; icraçılar; elmi rəhbər",
    "Indonesian and Malay": """
        penulis; para penulis; peneliti; peneliti utama; ketua; ketua peneliti; ketua tim; ketua pengusul; anggota;
        anggota peneliti; anggota tim; pengusul; pembimbing; dosen pembimbing; disusun oleh; oleh; diajukan oleh; nama;
        nama lengkap; mahasiswa; penanggung jawab; narahubung; kontak; penyelidik utama; penyelidik; penyelia""",
    "Vietnamese": """
        tác giả; nhóm tác giả; chủ nhiệm; chủ nhiệm đề tài; người thực hiện; người hướng dẫn; giảng viên hướng dẫn;
        giáo viên hướng dẫn; sinh viên; sinh viên thực hiện; nghiên cứu sinh; thành viên; họ và tên; họ tên; liên hệ;
        người liên hệ; người đề xuất; thư ký""",
    "Greek": """
        συγγραφέας; συγγραφείς; επιστημονικός υπεύθυνος; επιστημονική υπεύθυνη; επιβλέπων; επιβλέπουσα; επιβλέποντες;
        υπεύθυνος; υπεύθυνη; υπεύθυνος έργου; κύριος ερευνητής; κύρια ερευνήτρια; ερευνητής; ερευνήτρια; ερευνητές;
        ομάδα; ερευνητική ομάδα; ονοματεπώνυμο; υποψήφιος; υποψήφια; φοιτητής; φοιτήτρια; επικοινωνία; συντονιστής;
        συντονίστρια; μέλη""",
    "Russian": """
        автор; авторы; соавтор; соавторы; руководитель; руководитель проекта; руководители; научный руководитель;
        научный консультант; консультант; исполнитель; исполнители; исполнители проекта; основные исполнители;
        ответственный исполнитель; соисполнители; ответственный; ответственные; заявитель; заявители; соискатель;
        аспирант; аспирантка; студент; студентка; докторант; магистрант; выполнил; выполнила; выполнили; подготовил;
        подготовила; подготовили; составил; составила; составители; составитель; разработчик; разработчики; куратор;
        контактное лицо; контакт; контакты; фио; ф.и.о.; ф. и. о.; фамилия; имя; участники; участники проекта;
        состав коллектива; коллектив; команда; команда проекта; научный коллектив; координатор; рецензент; рецензенты;
        докладчик; докладчики; главный исследователь; исследователь; исследователи""",
    "Ukrainian": """
        автори; співавтори; керівник; керівник проєкту; керівник проекту; науковий керівник; виконавець; виконавці;
        відповідальний виконавець; заявник; заявники; учасники; аспірант; студентка; піб; п.і.б.; контактна особа; команда;
        виконав; виконала; підготував; підготувала; консультант; здобувач""",
    "Bulgarian and Serbian": """
        ръководител; ръководител на проекта; научен ръководител; изпълнители; екип; автори; докторант; изготвил;
        руководилац; руководилац пројекта; аутор; аутори; ментор; сарадници; истраживачи""",
    "Belarusian and Kazakh": "кіраўнік; аўтар; аўтары; выканаўцы; жетекші; жоба жетекшісі; орындаушылар; авторлар",
    "Chinese": """
        作者; 作 者; 著者; 撰写人; 撰稿人; 执笔人; 项目负责人; 项目主持人; 课题负责人; 课题主持人; 负责人; 負責人; 主持人; 計畫主持人;
        共同主持人; 申请人; 申请者; 申請人; 申报人; 主要参与者; 主要参加者; 参与者; 参与人; 参与人员; 参加人员; 项目组成员; 项目成员; 课题组成员;
        课题组; 团队成员; 研究团队; 成员; 主要成员; 研究成员; 研究人员; 研究者; 导师; 导 师; 指导教师; 指导老师; 指導教授; 合作导师; 联系人; 聯絡人;
        姓名; 姓 名; 学生; 学生姓名; 研究生; 博士生; 硕士生; 通讯作者; 通信作者; 第一作者; 合作者; 合作人; 提交人; 起草人; 编写人; 报告人; 汇报人; 推荐人;
        主讲人; 完成人; 首席科学家; 骨干成员""",
    "Japanese": """
        著者; 筆者; 作成者; 作成; 執筆者; 研究代表者; 研究代表; 代表者; 代表者名; 研究分担者; 分担者; 研究協力者; 連携研究者; 共同研究者; 研究責任者;
        責任者; 申請者; 応募者; 提案者; 氏名; 名前; 担当; 担当者; 連絡先; 連絡担当者; 指導教員; 指導教官; 主査; 副査; 発表者; 受入研究者; 学生; 研究者; メンバー;
        参加者; 責任著者; 筆頭著者; 提出者""",
    "Korean": """
        저자; 공저자; 교신저자; 제1저자; 작성자; 작성; 연구책임자; 책임연구자; 책임연구원; 총괄책임자; 과제책임자; 책임자; 공동연구원; 공동연구자;
        참여연구원; 참여연구자; 연구원; 연구진; 참여자; 연구보조원; 신청자; 신청인; 제출자; 제안자; 성명; 이름; 지도교수; 담당자; 담당교수; 연락처; 발표자;
        학생; 팀원; 팀장; 멘토; 대표자; 보고자""",
    "Arabic": """
        إعداد; اعداد; من إعداد; إعداد الباحث; إعداد الباحثة; إعداد الطالب; إعداد الطالبة; الباحث; الباحثة; الباحثون;
        الباحثان; الباحثين; الباحث الرئيسي; الباحثة الرئيسية; الباحث الرئيس; الباحث المشارك; الباحثون المشاركون;
        الباحثون المساعدون; اسم الباحث; اسم الباحثة; المؤلف; المؤلفة; المؤلفون; المؤلفان; اسم المؤلف; تأليف; الكاتب;
        الكاتبة; بقلم; كتبه; كتبته; المشرف; المشرفة; المشرفون; إشراف; بإشراف; تحت إشراف; المشرف الرئيسي; إشراف الدكتور;
        مقدم الطلب; مقدمة الطلب; مقدم المقترح; مقدم البحث; فريق البحث; فريق العمل; الفريق; أعضاء الفريق; المشاركون;
        الطالب; الطالبة; اسم الطالب; اسم الطالبة; الاسم; الاسم الكامل; مدير المشروع; رئيس المشروع; قائد المشروع;
        منسق المشروع; المنسق; مسؤول الاتصال; جهة الاتصال; للتواصل; المسؤول; المحقق الرئيسي""",
    "Persian": """
        نویسنده; نویسندگان; نگارنده; پژوهشگر; پژوهشگران; پژوهشگر اصلی; محقق; محققان; مجری; مجری طرح; مجریان; همکار; همکاران;
        همکاران طرح; استاد راهنما; استاد مشاور; دانشجو; نام; نام و نام خانوادگی; نام پژوهشگر; تهیه کننده; تهیه‌کننده;
        ارائه دهنده; مدیر پروژه; مسئول طرح; تیم پژوهش; زیر نظر""",
    "Urdu": "مصنف; محقق; نگران; مقالہ نگار; پیش کنندہ",
    "Hebrew": """
        מאת; מגיש; מגישה; מגישים; מגישי ההצעה; מחבר; מחברת; מחברים; כותב; כותבת; כותבים; חוקר; חוקרת; חוקרים; חוקר ראשי;
        חוקרת ראשית; חוקר שותף; חוקרים שותפים; חוקר משנה; מנחה; מנחים; בהנחיית; מציע; מציעה; שם; שם החוקר; שם מלא;
        שם הסטודנט; סטודנט; סטודנטית; ראש הפרויקט; צוות; צוות המחקר; איש קשר; אשת קשר; שותפים; יוזם; הוגש על ידי""",
    "Hindi": "लेखक; शोधकर्ता; प्रधान अन्वेषक; मुख्य अन्वेषक; मार्गदर्शक; नाम; प्रस्तुतकर्ता; शोधार्थी; निर्देशक",
    "Thai": "ผู้เขียน; ผู้วิจัย; หัวหน้าโครงการ; คณะผู้วิจัย; อาจารย์ที่ปรึกษา; ชื่อ; ผู้เสนอโครงการ; ผู้จัดทำ; ผู้ร่วมวิจัย; ผู้รับผิดชอบ",
}
_PHRASES = {
    "English": """
        submitted by; prepared by; written by; authored by; proposed by; presented by; drafted by; compiled by; edited by;
        created by; updated by; last updated by; last edited by; maintained by; owned by; assigned to; posted by;
        portrait of; photo of; photograph of; picture of; thanks go to; thanks are due to; thanks are owed to;
        indebted to; grateful to; thankful to; we thank; we also thank; i thank; i also thank; authors thank;
        author thanks; we acknowledge; authors acknowledge; would like to thank; wish to thank; want to thank;
        with comments from; with comments by; with input from; with contributions from; with contributions by;
        with help from; with feedback from; with advice from; with assistance from;
        under the supervision of; under the guidance of; under the direction of; please contact;
        questions to; get in touch with""",
    "German": """
        vorgelegt von; eingereicht von; verfasst von; erstellt von; geschrieben von; bearbeitet von; unter leitung von;
        unter der leitung von; unter betreuung von; unter der betreuung von; unter anleitung von; betreut von;
        geleitet von; wir danken; ich danke; dank gilt; gedankt sei; danken möchten wir; bedanken uns bei""",
    "French": """
        présenté par; présentée par; soumis par; soumise par; rédigé par; rédigée par; préparé par; proposé par; porté par;
        sous la direction de; sous la direction d'; sous la responsabilité de; encadré par; dirigé par; coordonné par;
        nous remercions; je remercie; remercier; remercient; remerciements vont à; exprimons notre gratitude à""",
    "Spanish": """
        presentado por; presentada por; elaborado por; elaborada por; preparado por; redactado por; escrito por;
        propuesto por; realizado por; dirigido por; dirigida por; coordinado por; bajo la dirección de;
        bajo la supervisión de; agradecemos a; agradezco a; agradecer a; agradecen a; agradecimiento a""",
    "Portuguese": """
        apresentado por; apresentada por; elaborado por; elaborada por; submetido por; preparado por; escrito por;
        redigido por; proposto por; coordenado por; orientado por; orientada por; sob orientação de; sob a orientação de;
        sob a supervisão de; sob a coordenação de; agradecemos a; agradeço a; agradecer a; agradecem a; agradecimento a""",
    "Italian": """
        presentato da; presentata da; redatto da; a cura di; elaborato da; scritto da; proposto da; diretto da;
        coordinato da; sotto la guida di; sotto la supervisione di; ringraziamo; ringrazio; ringraziare; ringraziano; un ringraziamento a; si ringrazia; si ringraziano""",
    "Dutch": """
        ingediend door; opgesteld door; geschreven door; voorgesteld door; onder leiding van; onder begeleiding van;
        wij danken; met dank aan; willen bedanken; bedanken""",
    "Scandinavian": """
        inlämnad av; skriven av; framlagd av; under ledning av; under handledning av; vi tackar; vill tacka; tackar; skrevet av;
        levert av; utarbeidet av; under ledelse av; vi takker; vil takke; takker; udarbejdet af; indsendt af;
        skrevet af; under ledelse af""",
    "Finnish": "laatinut; kirjoittanut; tekijä; kiitämme; kiittää; kiittävät; haluamme kiittää",
    "Polish": """
        przygotował; przygotowała; opracował; opracowała; pod kierunkiem; pod kierownictwem; pod opieką; dziękujemy; podziękować; podziękowania dla; dziękują;
        dziękuję; złożony przez""",
    "Czech and Slovak": """
        předkládá; předložil; předložila; vypracoval; vypracovala; zpracoval; zpracovala; pod vedením; děkujeme; poděkovat; děkují;
        predkladá; ďakujeme""",
    "Southern Slavic": "izradio; izradila; pod vodstvom; pod mentorstvom; zahvaljujemo; pripravil; pripravila; pod vođstvom",
    "Hungarian": "készítette; írta; benyújtotta; köszönjük",
    "Romanian": "elaborat de; întocmit de; prezentat de; propus de; sub îndrumarea; sub conducerea; mulțumim",
    "Turkish": "hazırlayan; sunan",
    "Indonesian": "disusun oleh; diajukan oleh; ditulis oleh; di bawah bimbingan",
    "Vietnamese": "thực hiện bởi; dưới sự hướng dẫn của; thực hiện",
    "Greek": "συντάχθηκε από; υποβλήθηκε από; υπό την επίβλεψη; υπό την καθοδήγηση; ευχαριστούμε",
    "Russian": """
        выполнил; выполнила; выполнили; подготовил; подготовила; подготовили; составил; составила; разработал;
        разработала; под руководством; под научным руководством; под редакцией; при участии; благодарим; благодарю; благодарит; благодарят; благодарен;
        благодарна; благодарны; признателен; признательны; выражаем благодарность; выражает благодарность;
        выражают благодарность""",
    "Ukrainian": "виконав; виконала; підготував; підготувала; під керівництвом; дякуємо; дякую; вдячні; висловлюємо подяку",
}


def _join(phrases: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, phrases), key=len, reverse=True))


def _split(texts: dict[str, str]) -> frozenset[str]:
    return frozenset(" ".join(item.casefold().split()) for text in texts.values() for item in text.split(";"))


_ALL_LABELS = _split(_LABELS)
_ONE_PERSON = _split(
    {
        "English": """
            owner; project owner; page owner; created by; creator; last edited by; edited by; assignee; assigned to; dri;
            author; submitted by; prepared by; written by; proposed by; drafted by; contact person; supervisor; advisor;
            applicant; pi; co-pi; principal investigator; reviewer; lead author; person in charge; responsible person;
            co-investigator; submitter; maintainer; project lead; project leader""",
        "names": """
            surname; family name; last name; first name; given name; forename; nachname; vorname; familienname; nom;
            nom de famille; prénom; apellido; apellidos; nombre; nombres; apelido; sobrenome; nome; cognome; achternaam;
            voornaam; efternamn; förnamn; etternavn; fornavn; efternavn; sukunimi; etunimi; nazwisko; imię; příjmení;
            jméno; priezvisko; vezetéknév; keresztnév; prenume; nume; soyadı; soyad; adı; ad; prezime; ime; фамилия; имя;
            прізвище; ім'я; họ; tên""",
        "others": """
            investigador principal; investigadora principal; pesquisador responsável; pesquisadora responsável;
            investigadora responsável; investigador responsable; directora de tesis; director de tesis; doctoranda;
            doctorando; doutoranda; doutorando; doktorand; doktorandin; vastuullinen tutkija; kierowniczka projektu;
            kierownik projektu; hlavní řešitel; hlavní řešitelka; témavezető; vezető kutató; projektledare; prosjektleder;
            projektleder; projectleider; hoofdaanvrager; huvudsökande; responsabile scientifico; responsabile scientifica;
            руководитель проекта; научный руководитель; ответственный исполнитель; керівник проєкту; науковий керівник;
            antragsteller; antragstellerin; verfasser; verfasserin; autor; autorin; betreuer; betreuerin; projektleiter;
            projektleiterin; auteur; auteure; autrice; porteur; porteuse; autora; orientador; orientadora; tutor; tutora;
            autore; relatore; aanvrager; sökande; hakija; tekijä; řešitel; kierownik; автор; исполнитель; руководитель""",
    }
)
"""Labels after which a single word is a name."""
ROLES_IN_PROSE = re.compile(
    rf"(?<![^\W_])(?:{_join(item for item in _ONE_PERSON if len(item) > 6 and (not item.isascii() or ' ' in item))}),? "
    r"(?-i:(?=[^\W\d_a-z]))",
    re.IGNORECASE,
)
"""Pattern for a role before a person's name in a sentence."""
FAMILY_LABELS = re.compile(
    r"surnames?|family names?|last names?|nachname|familienname|nom(?: de famille)?|apellidos?|apelido|sobrenome|cognome|"
    r"achternaam|efternamn|etternavn|efternavn|sukunimi|nazwisko|příjmení|priezvisko|vezetéknév|nume|soyadı?|prezime|"
    r"фамилия|прізвище|姓",
    re.IGNORECASE,
)
GIVEN_LABELS = re.compile(
    r"first names?|given names?|forenames?|vorname|prénoms?|nombres?|nome|voornaam|förnamn|fornavn|etunimi|imię|jméno|meno|"
    r"keresztnév|prenume|adı?|ime|имя(?: отчество)?|имя, отчество|ім'я|名",
    re.IGNORECASE,
)
_VAGUE = _split(
    {
        "English": """
            name; names; full name; host; head; contact; contacts; partner; partners; participants;
            members; people; person; team; from; to; by; player; players; champion; staff; chair; author;
            student; students; candidate; reviewer; reviewers; director; scientist; researcher; speaker""",
        "others": "nom; nombre; nome; naam; namn; navn; nimi; kontakt; имя; 姓名; 氏名; 성명; الاسم; שם",
    }
)
"""Labels of columns that may also name things."""
_OTHER_LABELS = re.compile(
    r"\b(?:areas?|regions?|sites?|locations?|places?|city|country|state|calls?|programmes?|programs?|funds?|funders?|scheme|track|"
    r"topics?|titles?|keywords?|key words|methods?|models?|data|datasets?|software|tools?|species|materials?|instruments?|"
    r"venue|journal|conference|river|lake|sea|stud(?:y|ies)|fields?|disciplines?|subjects?|languages?|licen[cs]e|version|status|"
    r"stage|phase|theme|category|type|project|proposal|date|deadline|duration|budget|vessel|ship|station|host organism|"
    r"institution|organi[sz]ation|university|department|institute|laborator(?:y|ies)|lab|faculty|address|affiliation|"
    r"note|summary|abstract|aims?|goals?|hypothes[ie]s|questions?|outputs?|outcomes?|results?|risks?|impact|scope|setting|"
    r"ort|region|gebiet|thema|titel|projekt|untersuchungsgebiet|stichwörter|schlagwörter|lugar|zona|área|tema|título|proyecto|"
    r"palabras clave|lieu|région|sujet|titre|projet|mots[- ]clés|luogo|titolo|progetto|parole chiave|local|projeto|"
    r"palavras-chave|plaats|gebied|onderwerp|trefwoorden|plats|område|ämne|sted|emne|nøgleord|nyckelord|stikkord|paikka|alue|"
    r"aihe|avainsanat|miejsce|obszar|temat|tytuł|słowa kluczowe|místo|oblast|téma|název|klíčová slova|hely|terület|cím|"
    r"kulcsszavak|loc|zonă|temă|titlu|cuvinte cheie|yer|bölge|konu|başlık|anahtar kelimeler|lokasi|judul|tempat|kata kunci|"
    r"địa điểm|đề tài|từ khóa|тема|место|район|область|название|регион|проект|ключевые слова|місце|назва|ключові слова)\b",
    re.IGNORECASE,
)
"""Pattern for words of labels that do not name people."""
COMPANIONS = re.compile(
    r"\b(?:role|rôle|rolle|rol|ruolo|papel|affiliation|institution|institut\w*|organi[sz]ation|position|e-?mail|expertise|"
    r"(?:person[- ])?months?|fte|orcid|department|university|universit\w+|responsibilit\w+|qualification|degree|phone|"
    r"tasks?|work ?packages?|wps?|milestones?|deliverables?|aufgabe|arbeitspaket|tarea|tâche|tarefa|attività|zadanie|úkol|"
    r"tehtävä|görev|задача|работы?|"
    r"funktion|funktio|función|função|funzione|einrichtung|должность|роль|степень|організація|организация)\b"
    r"|单位|職名|职称|职务|所属|分工|소속|역할|직위|الجهة|الدور|תפקיד",
    re.IGNORECASE,
)
"""Pattern for labels of columns that stand beside names of people."""
PHRASES = re.compile(
    rf"(?<![^\W_])(?:{_join(_split(_PHRASES))})"
    r"(?<!')[ \t:*_]{1,4}|(?<=sous la direction d['’])",
    re.IGNORECASE,
)
"""Pattern for a phrase that a person's name follows."""
_ENDINGS = re.compile(r"(?<=\w)[(/*·_:-]{1,2}(?:innen|in|e|a|as|es|s|se|trice|ne|rice|euse|ов|ы|и|а|ка)\b\)?")
"""Pattern for the ending for other genders or numbers: `Autor:in`, `Auteur(e)`, `Investigador/a`, `Author(s)`."""
_JOINED = re.compile(r"\s?[/&,+]\s?|\s(?:and|und|et|y|e|и|i|och|og|ja|ve|en|és)\s")
_NAME_OF = re.compile(
    r"^(?:(?:full )?names?(?: and (?:title|position|affiliation))? of (?:the )?|nombres?(?: y apellidos)? (?:del? la |del |de los |de )|"
    r"noms?(?: et prénoms?)? (?:d['’]|du |de la |des |de )|nome (?:do |da |dos |del |della |dei |de )|name (?:des |der )|"
    r"naam van (?:de )?|imię i nazwisko |jméno |اسم )|(?:['’]s)? (?:full )?names?$"
)
"""Pattern for `name of the` and the like around a label."""
_IN_BRACKETS = re.compile(r"\s?[(（][^()（）]{0,40}[)）]")
_CASELESS_LABEL = re.compile(
    r"[\u4e00-\u9fff]{0,8}(?:负责人|負責人|主持人|申请人|申請人|申报人|参与人|人员|人員|成员|成員|作者|导师|導師|教师|教師|联系人|聯絡人|姓名|氏名|者|担当|教員|教授)"
    r"|[\uac00-\ud7af ]{0,8}(?:책임자|연구원|연구자|교수|저자|성명|이름|담당자|신청자|참여자)"
)
"""Pattern for Chinese, Japanese and Korean labels that end with a word for people."""
_ABBREVIATION_AFTER = re.compile(r"(?<=[a-zà-ÿ]) [A-Z]{1,4}\d?$")
_SYMBOLS = re.compile(r"[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]")
"""Pattern for arrows, icons and emoji."""
_AROUND = " \t*_#|>•-–—.:：0123456789)[]【】「」"


def _normalise(label: str) -> str:
    label = _SYMBOLS.sub("", _ABBREVIATION_AFTER.sub("", label))
    bare = _IN_BRACKETS.sub("", _ENDINGS.sub("", label)).casefold().replace("\u0307", "").strip(_AROUND)
    return " ".join(bare.split())


def is_people_label(label: str) -> bool:
    """Return whether a label, such as that of a line or a column, says that names of people follow."""
    bare = _normalise(label)
    if bare in _ALL_LABELS or bare.startswith(("фио ", "ф.и.о")) or _CASELESS_LABEL.fullmatch(bare):
        return True
    return all(part in _ALL_LABELS or _NAME_OF.sub("", part) in _ALL_LABELS for part in _JOINED.split(bare))


def is_vague_label(label: str) -> bool:
    """Return whether the label of a column may also stand above names of things."""
    return _normalise(label) in _VAGUE or is_guessed_label(label)


def is_guessed_label(label: str) -> bool:
    """Return whether a Chinese, Japanese or Korean label is recognised only by its ending."""
    bare = _normalise(label)
    return bare not in _ALL_LABELS and _CASELESS_LABEL.fullmatch(bare) is not None


def is_other_label(label: str) -> bool:
    """Return whether a label says that something else than people follows."""
    return not is_people_label(label) and _OTHER_LABELS.search(label) is not None


def is_label_of_one_person(label: str) -> bool:
    """Return whether a single word after the label is a name."""
    return _normalise(label) in _ONE_PERSON

"""What other people call the columns of a table, in several languages, and how names are compared.

A name is taken apart into words: ``SentenceID``, ``sentence_id`` and ``Sentence no.`` are the same
word with an ending that says it is a number or name. Accents and case do not count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from unicodedata import category, normalize


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


OF_EDITORS = (".sdlxliff", ".mxliff", ".mqxliff", ".xlf", ".xliff", ".xlif", ".tmx")
"""Endings of the files that editors work in."""
ENDINGS = _words(
    "id ids no nr num number n idx index nummer numero nom code key name uuid label номер"
)
"""Words that say that a column names something, not what."""
LITTLE = _words("de du des la le les of the del der die das di d l")

ROLES: dict[str, str] = {
    "system": (
        "system, sys, model, engine, mt, mtsystem, mtengine, mtmodel, mtprovider, provider, "
        "systemname, translationsystem, translationengine, translationmodel, modell, maschine, "
        "motor, motormt, systeme, modele, moteur, sistema, modelo, modello, motore, systém, "
        "překladač, silnik, система, модель, движок, 系统, 模型, 引擎, 系統, システム, モデル, "
        "エンジン, 시스템, 모델"
    ),
    "doc": (
        "doc, document, docname, file, filename, article, textid, story, chapter, project, "
        "job, dokument, datei, projekt, auftrag, artikel, fichier, projet, documento, archivo, "
        "proyecto, progetto, документ, файл, 文档, 文件, 文書, 문서"
    ),
    "seg": (
        "seg, segment, sentence, sent, sid, line, item, itemid, string, stringid, tu, unit, "
        "sourceid, srcid, source segment id, question, prompt, example, satz, zeile, phrase, "
        "ligne, oracion, frase, linea, segmento, veta, radek, zdanie, предложение, сегмент, "
        "строка, предложения, сегмента, строки, 句子, 句子编号, 编号, 序号, 句号, 段落编号, "
        "文番号, セグメント, 번호, 문장, 段落, 片段, 语句"
    ),
    "rater": (
        "rater, annotator, annot, evaluator, evaluatedby, ratedby, annotatedby, judge, "
        "assessor, scorer, user, username, email, emailaddress, who, wer, worker, "
        "participant, grader, bewerter, bewerterin, "
        "annotatorin, beurteiler, gutachter, pruefer, prufer, evaluateur, evaluatrice, "
        "annotateur, annotatrice, juge, evaluador, evaluadora, anotador, valutatore, "
        "annotatore, avaliador, hodnotitel, anotator, oceniajacy, оценщик, аннотатор, асессор, "
        "эксперт, 评估者, 评估员, 评估人, 评价者, 评委, 打分人, 标注员, "
        "标注者, 评分人, 評価者, アノテーター, 평가자"
    ),
    "score": (
        "score, rating, grade, esa, da, mqm, sqm, psqm, bewertung, punktzahl, punkte, wertung, "
        "note, notation, evaluation, puntuacion, puntaje, calificacion, valoracion, nota, "
        "punteggio, voto, valutazione, pontuacao, avaliacao, hodnoceni, skore, ocena, wynik, "
        "оценка, балл, 评分, 分数, 得分, スコア, 評価, 点数, 점수, 평점"
    ),
    "seconds": (
        "seconds, secs, sec, times, edittimes, ratingtimes, timesec, timesecs, timeseconds, "
        "timeinseconds, timespents, "
        "timespentsec, timespentseconds, secondsspent, durations, durationsec, "
        "durationseconds, zeits, zeitsek, dauers, dauersek, sekunden, secondes, tempss, "
        "durees, segundos, tiempos, secondi, tempos, sekundy, секунды, время сек, 秒, 用时秒"
    ),
    "lp": (
        "lp, langpair, languagepair, langs, direction, languagedirection, sprachpaar, "
        "sprachrichtung, pairelangues, pairedelangues, paridiomas, coppialingue, jazykovypar, "
        "языковаяпара, 语言对, 言語ペア"
    ),
    "domain": (
        "domain, genre, topic, subject, domane, fachgebiet, domaine, dominio, тематика, 领域"
    ),
    "source": (
        "source, src, sourcetext, sourcesegment, sourcesentence, original, originaltext, "
        "ausgangstext, quelle, quelltext, ausgangssatz, textesource, phrasesource, "
        "textofuente, origen, textoorigen, testosorgente, originale, оригинал, исходныйтекст, "
        "原文, 源文, 원문"
    ),
    "target": (
        "target, tgt, hyp, hypothesis, translation, output, mtoutput, systemoutput, candidate, "
        "targettext, targetsegment, machinetranslation, mt, ubersetzung, zieltext, traduction, "
        "traduccion, traducao, traduzione, preklad, перевод, 译文, 訳文, 번역"
    ),
    "reference": (
        "reference, ref, gold, humantranslation, referencetranslation, referenz, referencia, "
        "riferimento, эталон, 参考译文, 参照訳"
    ),
    "words": ("words, wordcount, sourcewords, srcwords, worter, wortzahl, mots, palabras, слова"),
    "left": ("left, lhs"),
    "right": ("right, rhs"),
    "winner": (
        "winner, outcome, preference, preferred, preferredsystem, choice, better, best, result, "
        "verdict, vote, betterone, whichisbetter, gewinner, sieger, bevorzugt, praferenz, "
        "gagnant, prefere, ganador, preferencia, preferido, mejor, vincitore, preferito, "
        "besser, предпочтение, победитель, 胜者, 勝者, 偏好"
    ),
    "editor": (
        "editor, translator, posteditor, editedby, posteditedby, linguist, ubersetzer, "
        "ubersetzerin, uebersetzer, traducteur, traductrice, traductor, traductora, tradutor, "
        "traduttore, prekladatel, переводчик, редактор, 译员, 译者, 翻訳者, bearbeiter, "
        "reviser, revisor"
    ),
    "mt": (
        "mt, mtoutput, machinetranslation, rawmt, mttext, mttarget, mttranslation, "
        "pretranslation, before, targetbefore, mtraw, original mt, rohubersetzung, mu, "
        "maschinelleubersetzung, maschine, traductionautomatique, traduccionautomatica, "
        "traduzioneautomatica, машинныйперевод, 机器翻译, 機械翻訳"
    ),
    "edited": (
        "edited, pe, postedit, postedited, posteditedtext, posteditedtranslation, pe text, "
        "petext, petarget, finaltranslation, final, finaltarget, finaltext, after, "
        "targetafter, editedtranslation, editedtarget, editedtext, nachbearbeitet, endfassung, "
        "endversion, traductionfinale, postedite, posteditado, traduccionfinal, "
        "traduzionefinale, 译后编辑, 终稿, постредактура"
    ),
    "category": (
        "category, errorcategory, errortype, issuetype, issuecategory, type, error, kategorie, "
        "fehlertyp, fehlerkategorie, fehlerart, typederreur, categorie, tipoerror, categoria, "
        "错误类型"
    ),
    "severity": (
        "severity, errorseverity, issueseverity, schwere, schweregrad, gravite, severite, "
        "severidad, gravedad, gravita, zavaznost, серьезность, 严重程度"
    ),
    "start": ("start, spanstart, startpos, begin, errorstart"),
    "end": ("end, spanend, endpos, errorend"),
    "set": ("set, screen, hit"),
    "task": ("task, batch, taskname"),
    "check": (
        "check, attentioncheck, isattentioncheck, control, iscontrol, isbad, ischeck, qc, iscatch"
    ),
    "position": ("position, order"),
}
"""Assay's column to what others call it."""

PEOPLE = "translator, expert, person, reviewer"
"""Names of people who may have rated, edited or, with machines in it, be the system."""
PERSONAL = ("system", "rater", "editor")

DIMENSIONS = (
    "adequacy accuracy fluency style terminology meaning grammar clarity consistency register "
    "tone adaquatheit genauigkeit flussigkeit fluiditat stil fidelite fluidite adecuacion "
    "fluidez quality qualitat qualite calidad qualita overall overallquality rank ranking rang"
)
"""What a score may be about. A single such column is the score; of several the user must choose."""

BEST = _words("best perfect excellent optimal gut best bien mejor meilleur ottimo 最好")
WORST = _words("worst bad poor useless terrible schlecht schlechteste mal peor pire pessimo 最差")
RANKS = _words("rank ranks ranking rang")
FILLERS = _words(
    "human raw overall final total value points score scores rating ratings annotation mean "
    "avg average median sum gesamt span spans out max 0 1 5 6 10 25 100 percent"
)
"""Words that may stand in a score's name next to the one that identifies it."""
AVERAGED = _words("mean avg average median sum total final overall mittelwert moyenne")
TOTALS = frozenset(
    (AVERAGED | _words(
        "totals grandtotal averages averagescore meanscore totalscore overallmean overallaverage"
        " summe gesamt insgesamt durchschnitt gesamtdurchschnitt mittel moy somme ensemble media"
        " promedio suma soma somma totale prumer celkem srednia suma среднее итого всего 平均"
        " 平均值 平均分 合计 总计 合計 평균 합계"
    )) - _words("final")
)  # fmt: skip
"""What stands in a row that sums up those above it."""
STANDARDISED = _words("z std standardised standardized norm normalised normalized zscore")

METRIC = re.compile(
    r"(sent|sacre|spm?|sp)?bleu(rt)?\d*|x?comet\w*|chr ?f\d*|.*\bter\b|meteor|yi ?si\d*|"
    r".*yi ?si.*|metric ?x\w*|.*comet.*|.*bleu.*|.*chrf.*|bert ?score|prism|gemba\w*|cometkiwi|"
    r".*kiwi.*|nist|rouge\w*|wer|cer|laser|labse|mtqe|qe|ced|unite|maTESe|perplexity|ppl|"
    r"log ?prob|mbr|metric\b.*",
    re.IGNORECASE,
)
"""Names of automatic metrics."""

RATED = re.compile(
    r"(?:mqm|[pc]?sqm|da|esa|human|gold|ratings?|scores?)"
    r"(?:[ _.-]*(?:z|n|raw|mean|avg|average|median|sum|scores?|ratings?|sqm|annotated"
    r"|(?:r|rater|a|annotator)?\d+))*",
    re.IGNORECASE,
)
"""Names of columns that hold what people said, such as mqm_r1 or da_z."""

COUNTS = _words(
    "chars char characters length len count counts num words tokens token position pos index "
    "idx order rank row page year no nr n doc seg line zeichen worter lange anzahl mots "
    "caracteres longueur palabras size day month timestamp time date"
)
"""Words in the names of columns that count or order something."""

MACHINES = re.compile(
    r"deepl.*|google.*|gpt.*|chatgpt.*|claude.*|gemini.*|llama.*|mistral.*|nllb.*|opus.*|"
    r"marian.*|microsoft.*|bing.*|azure.*|amazon.*|aws.*|systran.*|modernmt.*|yandex.*|"
    r"baidu.*|youdao.*|tencent.*|aya.*|qwen.*|tower.*|eurollm.*|madlad.*|m ?2m.*|"
    r"online ?[a-z]|mt ?[0-9a-z]|nmt.*|smt.*|.*\bnmt|.*\bmt|apertium.*|papago.*|facebook.*|"
    r"meta.*|openai.*|human ?[a-z]|ref ?[a-z]",
    re.IGNORECASE,
)
"""Names of translation systems."""

UNITS_OF_TIME: Mapping[str, float] = {
    **dict.fromkeys(("ms", "msec", "milliseconds", "millisekunden"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "sek", "sekunden", "secondes"), 1.0),
    **dict.fromkeys(("min", "mins", "minute", "minutes", "minuten", "minutos", "minuti"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "stunde", "stunden"), 3600.0),
}
"""How many seconds there are in what the name of a column ends with."""


def seconds_in(name: str) -> float:
    """How many seconds a one in a column of times stands for, by the column's name.

    >>> seconds_in("Zeit (min)"), seconds_in("Time"), seconds_in("minutes")
    (60.0, 1.0, 60.0)
    """
    words = words_of(name)
    return UNITS_OF_TIME.get(words[-1], 1.0) if words else 1.0


SIDES: Mapping[str, frozenset[str]] = {
    "left": _words("a 1 left links gauche izquierda izq sinistra one first lhs"),
    "right": _words("b 2 right rechts droite derecha der destra two second rhs"),
}
TIES = (
    "tie, ties, tied, draw, both, neither, none, equal, equally good, same, no preference, "
    "nopreference, tie bothbad, both bad, gleich, unentschieden, egal, egalite, empate, "
    "pareggio, remiza, ничья, 平局, 引き分け, =, both equal, both same, no difference, "
    "cannot decide, equally bad, similar, comparable"
)
OF_VERDICTS = _words(
    "output translation is are was the it much slightly somewhat a bit clearly far strongly more"
    " better preferred best about almost approximately"
) - {"a"}
"""Words in a verdict that name neither a winner nor a tie."""


WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Characters of scripts that are written without spaces."""


def words_of(name: str) -> list[str]:
    """The words of a name, without accents and case, a number apart from what it follows.

    >>> words_of("SentenceID"), words_of("Satz-Nr."), words_of("Évaluateur 2"), words_of("#")
    (['sentence', 'id'], ['satz', 'nr'], ['evaluateur', '2'], ['no'])
    """
    text = re.sub(r"(?<=[a-zà-ÿ0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    text = re.sub(rf"(?<=[{WIDE}])(?=[a-zA-Z0-9])|(?<=[a-zA-Z0-9])(?=[{WIDE}])", " ", text)
    text = "".join(c for c in normalize("NFKD", text) if category(c) != "Mn").casefold()
    text = text.replace("#", " no ").replace("°", " no ")
    return re.findall(r"[^\W\d_]+|\d+", text)


def stem_of(words: list[str]) -> str:
    """The words that say what a column is, in one.

    >>> stem_of(words_of("Segment no.")), stem_of(words_of("N° de phrase"))
    ('segment', 'phrase')
    """
    kept = [word for word in words if word not in ENDINGS and word not in LITTLE]
    return "".join(kept)


LANGUAGE_BEHIND = re.compile(r"\s*[\[(][^\])]*[\])]\s*$|[\s_-]+[a-z]{2}([-_][A-Z]{2})?\s*$")


def without_language(name: str) -> str:
    """The name of a column of texts without the language at its end.

    >>> without_language("Target (de-DE)"), without_language("source_en"), without_language("MT")
    ('Target', 'source', 'MT')
    """
    return LANGUAGE_BEHIND.sub("", name) or name


@cache
def known_as(role: str) -> frozenset[str]:
    """What others call one of Assay's columns, as :func:`stem_of` has it."""
    listed = ROLES.get(role, role).split(",")
    return frozenset(
        form for name in listed for form in ("".join(words_of(name)), stem_of(words_of(name)))
        if form
    )  # fmt: skip


@cache
def listed(names: str) -> frozenset[str]:
    """A list of names, each as one word."""
    parts = names.split(",") if "," in names else names.split()
    return frozenset("".join(words_of(part)) or part.strip() for part in parts)


CONTROLS = _words(
    "bad chk control attention attentioncheck check catch tutorial training practice calibration"
    " badref repeat"
)
"""How a column of item types names items that are not ordinary outputs."""
YES_OR_NO = _words("true false 0 1 yes no ja nein oui non")

LOWER = _words(
    "mqm errors error mistakes penalty penalties demerits rank ranks ranking rang place"
    " platz fehler fehlerzahl fehleranzahl fehlerpunkte strafpunkte schulnote schulnoten"
    " erreurs fautes errores faltas errori chyby ошибки 错误数 扣分 排名 順位 hter minor major"
    " critical"
)
"""Words in the names of scores of which fewer is better, as a rule."""


MARKS = _words("note noten zensur zensuren znamka")
"""Names of marks, of which 1 is the best in some countries and the worst in others."""
BESIDE = _words("confidence certainty sicherheit difficulty agreement importance weight")
"""Words in the names of numbers that raters give in addition to a score."""


def best_is_low(name: str) -> bool:
    """Whether the name of a score says that less is better.

    >>> best_is_low("Rating (1 = best, 7 = worst)"), best_is_low("Score (0=bad, 5=perfect)")
    (True, False)
    """
    words = words_of(name)
    anchors = [word for word in words if word.isdigit() or word in BEST | WORST]
    behind = bool(anchors) and not anchors[0].isdigit()
    ends = {
        word in BEST: int(anchors[place])
        for k, word in enumerate(anchors)
        if not word.isdigit() and 0 <= (place := k + 1 if behind else k - 1) < len(anchors)
        and anchors[place].isdigit()
    }  # fmt: skip
    less = {"lower", "less", "fewer"} & {*words} and "better" in words
    return bool(less) or (len(ends) == 2 and ends[True] < ends[False])


def headed(stem: str, role: str) -> bool:
    """Whether a name is a compound that ends in what a column is called, or in its number.

    >>> headed("sentenceid", "seg"), headed("翻译系统", "system"), headed("video", "seg")
    (True, True, False)
    """
    number = next((word for word in ENDINGS if len(word) > 1 and stem.endswith(word)), "")
    if number and stem.removesuffix(number) in known_as(role):
        return True
    wide = re.fullmatch(rf"[{WIDE}]+", stem) is not None
    least = 2 if wide else 6
    return any(len(word) >= least and stem.endswith(word) and stem != word
               for word in known_as(role))  # fmt: skip


def nearly(stem: str, role: str) -> bool:
    """Whether a name is one slip of the pen away from what a column is called."""
    from rapidfuzz.distance import OSA

    return len(stem) > 5 and any(
        len(word) > 5 and word[0] == stem[0] and OSA.distance(word, stem, score_cutoff=1) <= 1
        for word in known_as(role)
    )


def side_of(value: str, columns: Mapping[str, str]) -> str | None:
    """Which side a word in ``winner`` names: by the side, or by the name of its column.

    >>> side_of("model_a", {"left": "model_a"}), side_of("B", {}), side_of("x", {})
    ('left', 'right', None)
    >>> side_of("Output A is slightly better", {}), side_of("Both about equal", {})
    ('left', 'tie')
    """
    words = words_of(value)
    verdict = [word for word in words if word not in OF_VERDICTS]
    if value.strip() == "=" or {"".join(words), "".join(verdict)} & listed(TIES):
        return "tie"
    for side in ("left", "right"):
        rest = [word for word in verdict if word not in SIDES[side]]
        named = len(rest) < len(verdict) and stem_of(rest) in {*known_as("system"), ""}
        if value == columns.get(side) or (named and not value.strip().isdigit()):
            return side
    return None

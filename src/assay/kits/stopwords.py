"""Words that are never a term, or never part of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from assay.kits.pieces import Piece
from assay.kits.readability import english_words, with_inflections

# The closed classes of English: articles, pronouns, auxiliaries, prepositions, conjunctions,
# particles, and what a tokeniser leaves of contractions.
_ENGLISH = """
a an the this that these those such same other another each every either neither both all any
some no none few many much more most less least several enough own one ones
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
it its itself we us our ours ourselves they them their theirs themselves who whom whose which
what whoever whatever whichever someone somebody something anyone anybody anything everyone
everybody everything nobody nothing
be am is are was were been being have has had having do does did doing done will would shall
should can could may might must ought cannot
about above across after against along among amongst around as at before behind below beneath
beside besides between beyond by despite down during except for from in inside into like near
of off on onto out outside over past per since through throughout till to toward towards under
until up upon via with within without
and but or nor so yet if unless because although though while whereas whether than then else
not n't 'll 'd 's 're 've 'm ’ll ’d ’s ’re ’ve ’m s t d ll m re ve
there here when where why how once again further only just also too very even still already
ever never always often rather quite almost perhaps however therefore thus hence moreover
now e.g. i.e. etc et al
"""


# Among the commonest words of English today, but not known to every child in 1948.
_MODERN = """
ability academic access achieve activity actual actually additional address administration
adult agency analysis apparent apply approach appropriate area argue argument aspect
assume attempt attitude audience authority available aware basic basis behavior behaviour
benefit campaign candidate capacity career challenge character claim client colleague
collection commercial commit common communication community company compare
complete complex computer concept concern condition conduct conference conflict consider
contain context contribute control cost create crisis critical cultural culture current
currently data debate decade decision define degree demonstrate depend describe
design despite detail determine develop development device difference different difficult
director discover discuss discussion disease display distance economic economy education
effect effective effort element emerge emotional emphasis employee encourage energy
environment environmental especially essential establish evaluate event eventually
evidence exactly example executive existing expand experience expert explain
express extent factor failure feature federal figure final finally financial focus
foreign formal former foundation freedom function fund future gender general generally
generation global goal government growth highly historical hospital however human
identify identity image impact imply important improve include including increase
increasingly indeed independent indicate individual industrial industry influence information
initial institution intelligence interest internal international
interview investigate investment involve issue item labor largely legal legislation level
likely link literature local location maintain major majority management manager market
material media medical medium mention method military modern moral national nature
nearly necessarily necessary network nevertheless objective obviously occur online
operate operation opportunity option organization organisation original otherwise outcome
overall participant particular particularly partner patient pattern percent perform
performance period permit personal perspective phone physical player policy political
politics popular population positive possibility potential practice predict prepare
presence present pressure prevent previous primary principle prior private problem
process produce product production professional professor program project property proposal
propose protect prove provide purchase quality range rate reality recent
recently recognize recognise reduce refer reference reflect region regional regulation relate
relation relationship relatively relevant religious rely remain remove replace represent
require research researcher resource respect respond response responsibility
result reveal review role scene science scientific scientist sector security seek sense
series serious service sexual significant significantly similar similarly simply situation
skill social society solution source specific specifically staff standard state
statement status strategy stress structure student study style subject success successful
suggest support survey system target task team technical technique technology television
tend term theory therefore topic total tradition traditional traffic training treatment
trend typical typically understanding unique unit user usually value variety
various version video violence volume web website whereas worker
"""


def is_word(token: str) -> bool:
    """Whether a token has a letter.

    >>> [is_word(token) for token in ("data", "2018", "’")]
    [True, False, False]
    """
    return any(sign.isalpha() for sign in token)


def function_words(language: str, pieces: Sequence[Piece]) -> frozenset[str]:
    """The words no term may contain: those of English, else what most pieces have in common.

    Another language has no list here; words found in more than half of the pieces stand in.
    """
    if language == "en":
        return frozenset(_ENGLISH.split())
    seen: Counter[str] = Counter()
    for piece in pieces:
        seen.update({token for line in piece.sentences for token in line.lower().split()})
    return frozenset(word for word, number in seen.items() if 2 * number > len(pieces) > 1)


def common_words(language: str) -> Callable[[str], bool]:
    """Whether a word is an everyday word, and so no term by itself.

    In English: the Dale-Chall list, some 400 words that have become common since, and the
    regular inflections of both. In other languages none.
    """
    if language != "en":
        return lambda word: False
    return with_inflections(english_words()[1] | set(_MODERN.split()))

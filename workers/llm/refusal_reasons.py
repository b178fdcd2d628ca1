"""Why an endpoint refused a request, from its status and its words."""

import re
from http import HTTPStatus
from typing import Literal

from workers.llm.error_body import ErrorBody
from workers.llm.stated_limits import is_over_rate_limit

RejectionReason = Literal[
    "wrong_key",
    "forbidden",
    "unknown_model",
    "unknown_path",
    "web_page",
    "quota",
    "too_long",
    "filtered",
    "bad_question",
    "bad_request",
]
"""Reason for a permanent refusal. `web_page` is a page of a proxy or firewall. `bad_question` is an unexplained refusal
by a model that has answered other requests."""

FORM_WORDS = (
    "response_format",
    "response format",
    "responseformat",
    "response_schema",
    "response schema",
    "responseschema",
    "response_mime_type",
    "json_schema",
    "json schema",
    "json_object",
    "json mode",
    "structured output",
    "structured_output",
    "structured generation",
    "guided",
    "grammar",
    "invalid schema",
    "schema is too complex",
    "output_config.format",
    "output_format",
    "chatrequest.format",
    "specified schema",
    "constrained decoding",
    "too many states",
)
"""Words in refusals of the requested form of structured output."""


def _compile_words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_NO_QUOTA_WORDS = _compile_words(
    r"insufficient[_ ](?:quota|balance|credits?|funds)",
    r"credit[_ ]balance|balance (?:is )?(?:insufficient|too low|exhausted)",
    r"(?:out of|no|not enough|more|requires?) credits?\b",
    r"credits? (?:exhausted|depleted|used up)",
    r"(?<![a-z])spend(?:ing)?[_ ](?:limit|cap)",
    r"billing[_ ](?:hard[_ ]limit|not[_ ]active)",
    r"account is not active",
    r"payment[_ ]required",
    r"(?:reached|exceeded|hit) (?:its|the|your)(?: \w+){0,3} (?:usage|billing|credit) limit",
    r"usage limit reached|inactive subscription|blocked_api_access|inference limit",
    r"account (?:\S+ ){0,2}is suspended",
    r"budget_exceeded|exceeded_?budget|over budget",
    r"budget (?:has been |was |is )?exceeded|exceeded (?:\w+ ){0,3}budget",
    r"arrear|overdue|in good standing",
    r"key limit exceeded",
    r"\btop up|recharge",
    r"free (?:tier|quota|allocated quota)[^.]{0,40}(?:exhausted|exceeded|used up)",
    r"quota (?:is |has been )?(?:used up|depleted)",
    r"余额不足|欠费|额度(?:不足|已?用[尽完])",
)
_QUOTA_REACHED_WORDS = _compile_words(
    r"quota\b[^.]{0,40}(?:reached|exceeded|exhausted)|(?:reached|exceeded|exhausted) (?:\w+ ){0,3}quota",
    r"quota_?(?:reached|exceeded|exhausted)",
)
"""Words that also concern rate limits, if the status is that of one."""
_LONG_PERIOD_WORDS = _compile_words(
    r"per[-_ ]?(?:day|month)",
    r"limit (?:\w+ ){0,3}for (?:today|this month)",
    r"(?:exceed|reach|hit)\w* (?:\w+ ){0,4}(?:daily|monthly)",
    r"(?:daily|monthly) (?:\w+ ){0,3}(?:limit|quota|cap)s? (?:\w+ ){0,2}(?:exceed|reach|exhaust|hit|used)",
    r"(?:calls|requests|tokens) ?/ ?(?:day|month)",
)
_USED_UP_WORDS = _compile_words(r"exceeded[_ ](?:your )?current[_ ]quota")
_NO_FREE_USE_WORDS = _compile_words(r"\blimit: 0\b")
"""Words of Gemini, which states a wait even for models that the account cannot use."""
_FILTER_WORDS = _compile_words(
    r"content[_ -](?:filter|policy|moderation|management|safety|inspection|violat)",
    r"usage (?:policy|policies|guidelines)|acceptable use",
    r"moderation|responsible_? ?ai|invalid_prompt",
    r"(?:was|were|been|is) flagged|\bflagged (?:as|by|for)",
    r"inappropriate|unsafe|harmful content|prohibited[_ ]content",
    r"sensitive (?:words?|content|information|data)",
    r"safety (?:system|filter|setting|check|polic|reason)|safety_check",
    r"guardrail|data_?inspection|content exists risk|considered high risk|new_sensitive",
    r"blocked (?:\w+ ){0,5}(?:safety|content|policy|guardrail|filter|moderation)",
    r"(?:prompt|input|content|message|output|response|completion)s? (?:\w+ ){0,3}blocked",
    r"reason: (?:safety|recitation|blocklist)",
    r"敏感|不安全|违规",
)
_FILTER_SETTING_WORDS = _compile_words(
    r"(?:invalid|unknown|unsupported|unrecogni[sz]ed|unexpected) (?:\w+ ){0,2}['\"`]?content[_ ]filter",
    r"content_filter\w*['\"`]? (?:\w+ ){0,2}(?:parameter|not supported|not permitted)",
)
"""Words in messages about the settings of a content filter, not about the content of a request."""
_CONTEXT_WORDS = _compile_words(
    r"context[_ ](?:length|limit|window|size)|max(?:imum)?[_ ]context|exceed_context",
    r"\bn_ctx\b|session_len|max_(?:seq_len|model_len|num_tokens|prompt_tokens)",
    r"maximum (?:prompt|input|sequence) length|input length",
    r"model token limit|too many (?:input )?tokens|(?:input|prompt) token count",
    r"max_new_tokens` must be|must have less than|tokens in the prompt cannot exceed",
    r"reduce the length|string_above_max_length|request[_ ]too[_ ]large",
    r"max(?:imum)?(?: number of)? tokens (?:of [\d,]+ )?(?:\w+ ){0,2}exceeded",
    r"超长|超过[^。]{0,12}长度",
)
_TOO_LONG_WORDS = _compile_words(
    r"\b(?:prompt|input(?! should)|request|messages?|text)\b[^.;:]{0,60}"
    r"(?:\btoo (?:long|large|big)|\bexceed|\b(?:longer|larger|greater) than|n['o]t fit)",
    r"(?:more than|at most|up to|only) [\d,]+ (?:input |prompt |context )?tokens",
)
_ANSWER_TOKENS_WORDS = _compile_words(r"max_(?:\w+_)?tokens|maxoutputtokens|(?:completion|output) tokens|rate limit")
_ANSWER_LIMIT_WORDS = _compile_words(
    r"max_(?:completion_|output_)?tokens\W{0,3}(?:must|should) be (?:less|at most|between|in |no more)"
)
"""Words in messages about the length of the answer alone."""
_RATE_LIMIT_WORDS = _compile_words(
    r"rate[-_ ]?limit(?:ed|s)?\b[^.]{0,60}(?:exceed|reach|hit)",
    r"(?:exceed|reach|hit)\w* [^.]{0,60}rate[-_ ]?limit",
    r"rate[-_ ]?limited|rate_limit_(?:exceeded|error)",
    r"too many requests|resource (?:has been )?exhausted|resource_exhausted|throttl",
)
_OVERLOAD_WORDS = _compile_words(
    r"temporarily (?:out of capacity|unavailable|overloaded|rate-limited)|overloaded",
    r"server (?:is )?busy|high demand|(?:at|no|out of) capacity|capacity exceeded",
    r"no (?:healthy )?deployments? (?:are )?available",
    r"(?:request|upstream) timed out|(?:currently|still) loading|loading model",
    r"(?:model|function|service|endpoint) (?:\w+ ){0,2}(?:unloaded|crashed|unavailable|not ready|degraded|warming)",
    r"degraded function",
)
"""Words with which some endpoints report an overload, whatever the status."""
_WRONG_KEY_WORDS = _compile_words(
    r"(?:invalid|incorrect|expired|revoked|wrong|malformed|missing|no)[_ ](?:\w+ ){0,2}"
    r"(?:api[_ -]?key|subscription key|auth\w* token|access token|(?:auth )?credentials)",
    r"api[_ -]?key (?:\w+ ){0,3}(?:valid|invalid|incorrect|expired|revoked|not found|leaked|missing)",
    r"api_key_invalid",
)
_NO_ACCESS_WORDS = _compile_words(
    r"(?:not allowed|not permitted|(?:no|not have) (?:access|permission))[^.]{0,40} model|model_access_denied"
)
_MODEL_NAME = r"(?:[^.]|\.\S){0,160}?"
"""Matches a model's name and what stands around it in one sentence."""
_UNKNOWN_MODEL_WORDS = _compile_words(
    r"model_not_(?:found|supported|exist\w*)|model_decommissioned|invalid_model|deploymentnotfound",
    rf"\bmodels?\b{_MODEL_NAME}\b(?:not found|not exist|not (?:a )?valid|is (?:invalid|unknown)|not supported by any)",
    rf"\bmodels?\b{_MODEL_NAME}\bno longer (?:available|supported)",
    rf"\bmodels?\b{_MODEL_NAME}\bbeen (?:decommissioned|retired|discontinued|deprecated)",
    r"not (?:a )?valid model|(?:unknown|invalid|unrecogni[sz]ed) model\b|unable to access model",
    r"no models? (?:is |are )?(?:currently )?loaded|model is not loaded",
    r"no endpoints (?:found for|(?:found|available) matching)",
)

_NO_PATH_WORDS = _compile_words(
    r"^\W*(?:http )?(?:404\W+)?not found|\b(?:page|path|route|url|endpoint|resource)\b[^.]{0,40}not found",
    r"cannot post|no (?:static )?(?:route|resource)|(?:invalid|unknown) (?:\w+ )?(?:url|path|route)|chat/completions",
)
"""Words of servers that have no such path."""

_GATEWAY_STATUSES = frozenset({200, 400, 500, 502})
"""Statuses that gateways send for errors with another status in the body."""
_NAMED_STATUSES = {
    **{
        HTTPStatus(status).phrase: status
        for status in (400, 401, 402, 403, 404, 405, 408, 422, 429, 500, 502, 503, 504)
    },
    **dict.fromkeys(("rate_limit", "rate_limited", "rate_limit_exceeded", "resource_exhausted", "slow_down"), 429),
    **dict.fromkeys(("throttled", "throttling"), 429),
    **dict.fromkeys(("overloaded", "server_is_overloaded", "engine_overloaded"), 529),
    **dict.fromkeys(("unavailable", "model_not_ready"), 503),
    **dict.fromkeys(("timeout", "deadline_exceeded"), 504),
    **dict.fromkeys(("authentication", "unauthenticated", "invalid_api_key"), 401),
    **dict.fromkeys(("permission", "permission_denied", "access_denied"), 403),
    **dict.fromkeys(("invalid_request", "invalid_argument", "validation"), 400),
}
"""Statuses by the names that endpoints use for them as codes, or as the whole message."""


def _normalise_name(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower()).removesuffix("error").removesuffix("exception")


_STATUSES_BY_NAME = {_normalise_name(name): status for name, status in _NAMED_STATUSES.items()}
_UNSPECIFIC_STATUSES = frozenset({400, 404, 405, 422, 500})
"""Statuses whose names some gateways use for every error."""
_TEMPORARY_STATUSES = frozenset({402, 408, 409, 420, 421, 423, 424, 425, 429, 444, 460, 498, 499})
"""Statuses below 500 that may pass. Proxies use 444, 460 and 499 for connections that were closed."""


def find_meant_status(status: int, body: ErrorBody) -> int:
    """Return the status that a response means. Gateways forward errors with a status of their own; the body then states
    the provider's, as a number or by name. An error inside a 200 that states none is 400 if its words are those of a
    refusal, otherwise 502."""
    if status not in _GATEWAY_STATUSES:
        return status
    codes = body.code.split()
    stated_status = next((int(code) for code in codes if code.isdecimal() and 400 <= int(code) < 600), None)
    names = (*codes, body.message[:40]) if status == 200 else codes
    named_statuses = (_STATUSES_BY_NAME.get(_normalise_name(name)) for name in names)
    stated_status = stated_status or next(
        (name for name in named_statuses if name and (status == 200 or name not in _UNSPECIFIC_STATUSES)), None
    )
    if stated_status is not None or status != 200:
        return stated_status or status
    text = body.text
    is_refusal = any(
        words.search(text)
        for words in (_NO_QUOTA_WORDS, _FILTER_WORDS, _CONTEXT_WORDS, _UNKNOWN_MODEL_WORDS, _WRONG_KEY_WORDS)
    )
    return 400 if is_refusal or body.contains_any(*FORM_WORDS) else 502


def find_permanent_reason(status: int, body: ErrorBody, wait: float | None) -> RejectionReason | None:
    """Return why a request was refused, or None if the same request may be accepted later. `status` is the status that
    the response means, `wait` the number of seconds that the endpoint asks to wait."""
    if _is_quota_used_up(status, body, wait):
        return "quota"
    return _find_content_reason(status, body) or _find_reason_by_status(status, body)


def is_rate_limit(status: int, body: ErrorBody) -> bool:
    """Return whether a temporary refusal is due to a rate limit."""
    return status == 429 or (status < 500 and _RATE_LIMIT_WORDS.search(body.text) is not None)


def _is_quota_used_up(status: int, body: ErrorBody, wait: float | None) -> bool:
    """Return whether a quota is used up that will not be renewed soon, as opposed to a rate limit."""
    text = body.text
    if status == 402:
        return wait is None
    if status in {404, 408, 413} or body.page_title is not None:
        return False
    if _NO_QUOTA_WORDS.search(text):
        return True
    if status != 429:
        return status < 500 and wait is None and _QUOTA_REACHED_WORDS.search(text) is not None
    if wait is None:
        return any(words.search(text) for words in (_LONG_PERIOD_WORDS, _USED_UP_WORDS))
    # Gemini states a wait of seconds even if the requests of the whole day are used up.
    return _LONG_PERIOD_WORDS.search(body.code.lower()) is not None or _NO_FREE_USE_WORDS.search(text) is not None


def _find_content_reason(status: int, body: ErrorBody) -> RejectionReason | None:
    """Return the reason if the content of this one request was refused: it is too long, or a filter stopped it."""
    text = body.text
    if status in {413, 429}:
        never_fits = status == 413 or is_over_rate_limit(body.message) or "request too large" in text
        return "too_long" if never_fits else None
    if status in {401, 404, 408} or body.page_title is not None:
        return None
    if status <= 500 and _FILTER_WORDS.search(text) and not _FILTER_SETTING_WORDS.search(text):
        return "filtered"
    concerns_answer = _ANSWER_TOKENS_WORDS.search(text) or body.contains_any(*FORM_WORDS)
    exceeds_window = _CONTEXT_WORDS.search(text) and not _ANSWER_LIMIT_WORDS.search(text)
    exceeds_limit = _TOO_LONG_WORDS.search(text) and not concerns_answer
    return "too_long" if (exceeds_window or exceeds_limit) and status != 403 else None


def _find_reason_by_status(status: int, body: ErrorBody) -> RejectionReason | None:
    text, is_page = body.text, body.page_title is not None
    if status in {500, 501} and body.contains_any(*FORM_WORDS):  # some servers should respond with 400
        return "bad_request"
    if not is_page and (status == 401 or (status in {400, 403, 404, 422, 500} and _WRONG_KEY_WORDS.search(text))):
        return "forbidden" if _NO_ACCESS_WORDS.search(text) else "wrong_key"
    if status in _TEMPORARY_STATUSES or (status >= 500 and status != 511):
        return None
    if is_page and status not in {404, 405}:
        return "web_page"
    if _RATE_LIMIT_WORDS.search(text) or (status != 403 and _OVERLOAD_WORDS.search(text)):
        return None
    return _find_reason_by_words(status, body)


def _find_reason_by_words(status: int, body: ErrorBody) -> RejectionReason:
    if status == 403:
        return "forbidden"
    if _UNKNOWN_MODEL_WORDS.search(body.text):
        return "unknown_model"
    if body.contains_any(*FORM_WORDS, "parameter"):
        return "bad_request"
    is_explained = bool(body.message) and body.page_title is None and not _NO_PATH_WORDS.search(body.text)
    if status == 404 and (is_explained or body.contains_any("model")):
        return "unknown_model"
    return "unknown_path" if status in {404, 405} else "bad_request"

"""The balancer never gives out more slots than there are, and loses none."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from workers.full_texts.grobid_pool import GrobidLoadBalancer

URLS = ("a", "b", "c")
SLOTS = 2


def make_balancer() -> GrobidLoadBalancer:
    return GrobidLoadBalancer(URLS, SLOTS, pause=1.0, max_pause=8.0)


def test_documents_go_to_the_least_loaded_server() -> None:
    balancer = make_balancer()
    assert sorted(str(balancer.acquire(0.0)) for _ in range(3)) == ["a", "b", "c"]
    balancer.mark_answered("b")
    assert balancer.acquire(0.0) == "b"


def test_avoided_server_is_used_only_when_others_are_full() -> None:
    balancer = make_balancer()
    first = [balancer.acquire(0.0, avoid={"a"}) for _ in range(4)]
    assert sorted(map(str, first)) == ["b", "b", "c", "c"]
    assert balancer.acquire(0.0, avoid={"a"}) == "a"


def test_busy_server_is_paused_twice_as_long_after_each_rejection() -> None:
    balancer = GrobidLoadBalancer(["a"], 1, pause=1.0, max_pause=3.0)
    now = 0.0
    for pause_seconds in (1.0, 2.0, 3.0, 3.0):
        assert balancer.acquire(now) == "a"
        balancer.mark_busy("a", now)
        assert balancer.acquire(now) is None
        assert balancer.find_next_change(now) == now + pause_seconds
        now += pause_seconds
    assert balancer.acquire(now) == "a"
    balancer.mark_answered("a")
    assert balancer.acquire(now) == "a"
    balancer.mark_busy("a", now)
    assert balancer.find_next_change(now) == now + 1.0


class Slots(RuleBasedStateMachine):
    """State machine: any order of events keeps the counts of free slots correct."""

    taken = Bundle("taken")

    def __init__(self) -> None:
        super().__init__()
        self.balancer = make_balancer()
        self.now = 0.0
        self.busy: list[str] = []
        self.down: set[str] = set()

    @rule(target=taken, avoid=st.sets(st.sampled_from(URLS)))
    def take(self, avoid: set[str]) -> object:
        url = self.balancer.acquire(self.now, avoid)
        if url is None:
            return multiple()
        assert url not in self.down
        self.busy.append(url)
        return url

    @rule(url=consumes(taken), outcome=st.sampled_from(["answered", "refused", "released", "broke"]))
    def give_back(self, url: str, outcome: str) -> None:
        self.busy.remove(url)
        if outcome == "refused":
            self.balancer.mark_busy(url, self.now)
        elif outcome == "answered":
            self.balancer.mark_answered(url)
        else:
            self.balancer.release(url)
        if outcome == "broke":
            self.balancer.mark_down(url)
            self.down.add(url)

    @rule(url=st.sampled_from(URLS))
    def revive(self, url: str) -> None:
        self.balancer.mark_up(url)
        self.down.discard(url)

    @rule(seconds=st.floats(0.0, 10.0))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def check_slot_limit(self) -> None:
        assert all(self.busy.count(url) <= SLOTS for url in URLS)

    def teardown(self) -> None:
        """Check that every slot is available again after all were released."""
        for url in self.busy:
            self.balancer.mark_answered(url)
        for url in URLS:
            self.balancer.mark_up(url)
        assert all(self.balancer.acquire(self.now + 100.0) for _ in range(SLOTS * len(URLS)))


Slots.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestSlots = Slots.TestCase

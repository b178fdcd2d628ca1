"""Walkthrough of a complete call on a separate service: 158 rows, two reviewers, a conflict of interest, blind scores,
a shortlist, an override, sign-off, export, verification of the audit log, erasure of an applicant. It takes the
screenshots for docs/use/console.md.

    python -m benchmarks.console.walkthrough --pictures docs/use/console
    python -m benchmarks.console.walkthrough --data ../shared/data      # real ideas, no screenshots

The language model is simulated, and the corpus is examples/corpus.jsonl, so the findings have no meaning.
"""

import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright

from assayer_client import AsyncClient
from assayer_client.reviewing import OpinionBody
from benchmarks.console.pictures import save_screenshot
from benchmarks.console.proposals import ProposalFile, generate_proposals, read_proposals
from benchmarks.measuring import build_parser, format_heading
from simulator.process import Simulator

_ROOT = Path(__file__).parents[2]
_CLI_CODE = "from cluster.cli.main import main; main()"
_SHORTLIST_SIZE = 20


class Walk:
    """Running service, with helpers for its command line and pages."""

    def __init__(self, home: Path, simulator: Simulator, pictures: Path | None) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAYER_", "OPENAI_"))}
        self.environment = inherited | {
            "ASSAYER_HOME": str(home),
            "ASSAYER_LLM__BASE_URL": simulator.base_url,
            "ASSAYER_LLM__MODEL": "simulated",
            "ASSAYER_LLM__API_KEY": "sk-test",
            "ASSAYER_LLM__ENDPOINT_NAME": "simulated",
            "ASSAYER_LLM__PRICES": json.dumps({"simulated": [0.5, 1.5]}),
        }
        self.home, self.pictures, self.address = home, pictures, ""
        self.began = time.monotonic()

    def run(self, *arguments: object) -> str:
        command = [sys.executable, "-c", _CLI_CODE, *map(str, arguments)]
        process = subprocess.run(
            command, env=self.environment, cwd=self.home, capture_output=True, text=True, check=False
        )
        if process.returncode:
            raise RuntimeError(f"assayer {' '.join(map(str, arguments))} failed: {process.stderr}")
        return process.stdout.strip() or " ".join(process.stderr.split())

    @contextmanager
    def serve(self) -> Iterator[None]:
        command = [sys.executable, "-c", _CLI_CODE, "serve", "--port", "0"]
        log = (self.home / "serve.log").open("w")
        process = subprocess.Popen(
            command, env=self.environment, cwd=self.home, stdout=subprocess.PIPE, stderr=log, text=True
        )
        try:
            if process.stdout is None:
                raise RuntimeError("The output of the service cannot be read.")
            for line in process.stdout:
                if "listens" in line:
                    self.address = line.split()[-1]
                    break
            yield
        finally:
            process.terminate()
            process.wait()
            log.close()

    async def sign_in(self, browser: Browser, key: str) -> Page:
        page = await (await browser.new_context(viewport={"width": 1280, "height": 840})).new_page()
        await page.goto(f"{self.address}/console")
        await page.get_by_label("API key").fill(key)
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Sign out").wait_for()
        return page

    async def save_picture(self, page: Page, name: str) -> None:
        if self.pictures is not None:
            await save_screenshot(page, self.pictures / f"{name}.webp")

    def report(self, message: str) -> None:
        print(f"{time.monotonic() - self.began:6.0f} s  {message}", flush=True)


async def run_walkthrough(walk: Walk, files: list[ProposalFile]) -> None:
    walk.environment |= {"ASSAYER_API_URL": walk.address}
    scopes = [argument for scope in ("submit", "read", "manage") for argument in ("--scope", scope)]
    walk.environment |= {"ASSAYER_API_KEY": walk.run("admin", "keys", "create", "walk", "--tenant", "default", *scopes)}
    owner_key = walk.run(
        "admin", "members", "invite", "Olga Owner", "olga@example.org", "--role", "owner", "--key"
    ).split()[-1]
    async with async_playwright() as playwright, AsyncClient(walk.address, owner_key) as client:
        browser = await playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"), chromium_sandbox=os.geteuid() != 0
        )
        owner = await walk.sign_in(browser, owner_key)
        call = await _submit(walk, owner, files)
        await client.batches.wait(call, seconds=3_600)
        batch = await client.batches.get(call)
        walk.report(f"evaluated: {json.dumps(batch.states)}, {batch.rejected} refused, cost {batch.cost_usd}")
        await owner.goto(f"{walk.address}/console/calls/{call}?sort=score&down=true")
        await walk.save_picture(owner, "table")
        await owner.locator("td.title a").first.click()
        await owner.get_by_role("heading", name="Report findings").wait_for()
        best_evaluation = owner.url.rpartition("/")[2]
        await walk.save_picture(owner, "proposal")
        keys = await _invite(walk, owner)
        await _assign(walk, owner, call)
        reviewed_evaluation = await _review_by_hand(walk, browser, keys[0], best_evaluation)
        await _give_opinions(walk, keys, call, reviewed_evaluation)
        ranking = await _rank_proposals(walk, owner, client, call)
        await _show_plots(walk, owner, call, ranking)
        await _decide_each(walk, owner, call)
        await _decide(walk, owner, call)
        await _send_letters(walk, owner, call)
        await _export(walk, client, call)
        await _erase(walk, owner)
        await browser.close()


async def _submit(walk: Walk, page: Page, files: list[ProposalFile]) -> str:
    await page.goto(f"{walk.address}/console/calls/new")
    await page.get_by_label("Name", exact=True).fill("Spring call 2026")
    await page.get_by_label("Tags").fill("spring, round 1")
    await page.get_by_label("Reviews due by").fill("2027-01-31")
    payloads = [{"name": file.name, "mimeType": "application/octet-stream", "buffer": file.content} for file in files]
    await page.locator("#files").set_input_files(payloads)  # type: ignore[arg-type]
    await page.get_by_role("button", name="Check and estimate").click()
    await page.get_by_role("heading", name="If you submit this").wait_for()
    await page.mouse.move(0, 0)
    await page.get_by_role("heading", name="The call", exact=True).evaluate("one => one.scrollIntoView()")
    await walk.save_picture(page, "new-call")
    await page.get_by_role("button", name="Submit", exact=True).click()
    await page.get_by_role("link", name="Follow the call").click()
    await page.get_by_role("heading", name="Spring call 2026").wait_for()
    call = page.url.rpartition("/")[2]
    walk.report(f"submitted as {call}")
    await page.goto(f"{walk.address}/console")
    await page.get_by_text("per hour").first.wait_for(timeout=600_000)
    await page.reload()
    await walk.save_picture(page, "calls")
    return call


async def _invite(walk: Walk, page: Page) -> list[str]:
    keys = []
    for name, affiliation, keywords in (
        ("Ada Byron", "University of Turin", "coral reefs, salt marshes, river ice"),
        ("Grace Hopper", "Yale University", "language models, old manuscripts, peer review"),
    ):
        await page.goto(f"{walk.address}/console/members")
        await page.get_by_label("Name", exact=True).fill(name)
        await page.get_by_label("Email address").fill(f"{name.split()[0].lower()}@example.org")
        await page.get_by_label("Institutions").fill(affiliation)
        await page.get_by_label("Role").select_option("reviewer")
        await page.get_by_role("button", name="Invite").click()
        await page.get_by_role("link", name=f"Change {name}").click()
        await page.get_by_role("heading", name=name).wait_for()
        member = page.url
        await page.get_by_role("button", name="Create a key").click()
        keys.append((await page.locator("#secret").inner_text()).strip())
        await page.goto(f"{member}/expertise")
        await page.get_by_label("Keywords").fill(keywords)
        await page.get_by_role("button", name="Save").click()
        await page.get_by_text("Saved.", exact=True).wait_for()
    walk.report("two reviewers invited, each with a key and keywords")
    return keys


async def _assign(walk: Walk, page: Page, call: str) -> None:
    await page.goto(f"{walk.address}/console/calls/{call}/assignments")
    await page.get_by_role("button", name="Plan assignments").click()
    await page.get_by_role("heading", name="Planned assignments").wait_for()
    await page.get_by_role("heading", name="Who reviews").evaluate("one => one.scrollIntoView()")
    await walk.save_picture(page, "assignments")
    button = page.get_by_role("button", name="Assign these")
    walk.report(f"{await button.inner_text()}; conflicts found: {await page.get_by_text('found by name').count()}")
    await button.click()
    await page.get_by_role("button", name="Withdraw").first.wait_for()


async def _review_by_hand(walk: Walk, browser: Browser, key: str, evaluation: str) -> str:
    page = await walk.sign_in(browser, key)
    await page.goto(f"{walk.address}/console/review/{evaluation}")
    await walk.save_picture(page, "blind")
    await page.get_by_label("4", exact=True).check()
    await page.get_by_label("Why").first.fill("A clean design, and the power is stated.")
    await page.get_by_role("button", name="Give first review").click()
    await page.get_by_role("heading", name="Report findings").wait_for()
    await _judge_a_claim(walk, page)
    await page.get_by_label("3", exact=True).check()
    await page.get_by_role("button", name="Revise").click()
    await page.get_by_text("First review (cannot be changed)").wait_for()
    walk.report("one proposal reviewed by hand: blind, then with the findings, revised")
    return evaluation


async def _judge_a_claim(walk: Walk, page: Page) -> None:
    for part in await page.locator("details.folded > summary").all():
        await part.click()
    claim = page.locator("li:has(.judge)").first
    if not await claim.count():
        walk.report("the report has no claim to judge")
        return
    await claim.locator("summary").click()
    await claim.get_by_label("Why").fill("The proposal does say how sites are drawn.")
    await claim.get_by_role("button", name="I disagree").click()
    await page.get_by_text("You disagree").first.scroll_into_view_if_needed()
    await walk.save_picture(page, "claims")


async def _give_opinions(walk: Walk, keys: list[str], call: str, finished_evaluation: str) -> None:
    """Give the remaining first opinions with the API client."""
    rng, opinion_count = random.Random(7), 0
    base_scores: dict[str, int] = {}
    for key in keys:
        async with AsyncClient(walk.address, key) as reviewer:
            for assignment in (await reviewer.reviewing.list_assignments(batch=call)).items:
                if assignment.opinion != "none" or (assignment.evaluation == finished_evaluation and key == keys[0]):
                    continue
                base = base_scores.setdefault(assignment.evaluation, rng.randint(1, 5))
                score = min(5, max(1, base + rng.choice((-1, 0, 0, 0, 1))))
                await reviewer.reviewing.give_opinion(
                    assignment.evaluation, OpinionBody(score=score, note="As discussed.")
                )
                opinion_count += 1
    walk.report(f"{opinion_count} more first opinions")


async def _rank_proposals(walk: Walk, page: Page, client: AsyncClient, call: str) -> str:
    """Start a ranking, wait for it and return its id."""
    await page.goto(f"{walk.address}/console/calls/{call}/rankings")
    await page.get_by_label("Number to be chosen").fill(str(_SHORTLIST_SIZE))
    await page.get_by_label("Comparisons per proposal").fill("4")
    await page.get_by_role("button", name="Estimate").click()
    await page.get_by_role("button", name="Start the ranking").click()
    await page.wait_for_url("**/rankings/rk_*")
    ranking = page.url.rpartition("/")[2]
    await client.rankings.wait(ranking, seconds=3_600)
    await page.get_by_role("button", name="Apply cutoff").wait_for()
    await walk.save_picture(page, "shortlist")
    bands = [await item.inner_text() for item in await page.locator("section.band h2").all()]
    walk.report(f"shortlist of {_SHORTLIST_SIZE}: {'; '.join(bands)}")
    return ranking


async def _show_plots(walk: Walk, page: Page, call: str, ranking: str) -> None:
    await page.goto(f"{walk.address}/console/calls/{call}/plots?ranking={ranking}")
    headings = {
        "plots": "Ranks",
        "agreement": "Do reviewers agree?",
        "agreement-with-program": "With report scores",
    }
    for name, title in headings.items():
        await page.get_by_role("heading", name=title).evaluate("one => one.scrollIntoView()")
        await walk.save_picture(page, name)
    orders = page.get_by_role("region", name="Agreement of reviewers with reports").locator("tbody tr")
    order_texts = [" ".join((await item.inner_text()).split()) for item in await orders.all()]
    walk.report(
        f"same order as a reviewer: {' · '.join(order_texts) or 'too few proposals have a score of the program'}"
    )


async def _decide_each(walk: Walk, page: Page, call: str) -> None:
    """Fund the first proposals by the mean of their reviews, and decline the others, one page after another."""
    await page.goto(f"{walk.address}/console/calls/{call}/decisions?only=undecided")
    boxes, decide_button = (
        page.locator("input[name=proposal]"),
        page.get_by_role("button", name="Decide on the ticked proposals"),
    )
    for position in range(min(_SHORTLIST_SIZE, await boxes.count())):
        await boxes.nth(position).check()
    await decide_button.click()
    await page.locator("select[name=outcome]").wait_for()
    while await boxes.count():
        await page.get_by_role("button", name="Tick all").click()
        await page.locator("select[name=outcome]").select_option("decline")
        await decide_button.click()
        await page.wait_for_load_state()
    walk.report(" · ".join((await page.locator("dl.figures").inner_text()).split("\n")))


async def _decide(walk: Walk, page: Page, call: str) -> None:
    await page.goto(f"{walk.address}/console/calls/{call}/panel?sort=spread")
    await page.locator("th.title a").first.click()
    await page.get_by_text("Set the final score …").click()
    await page.get_by_label("2", exact=True).check()
    await page.get_by_label("Why", exact=True).fill("The budget was not in the file that reviewers read.")
    await page.get_by_role("button", name="Set the final score").click()
    await page.get_by_text("Final score: 2 of 5").wait_for()
    await page.goto(f"{walk.address}/console/calls/{call}/panel?sort=spread")
    await walk.save_picture(page, "panel")
    figures = " · ".join((await page.locator("dl.figures").inner_text()).split("\n"))
    await page.get_by_label("Note on the decision (optional)").fill("The first twenty by score, ties by the panel.")
    await page.get_by_role("button", name="Sign off this call").click()
    head = await page.locator("code.head").inner_text()
    await page.evaluate("scrollTo(0, 0)")
    await walk.save_picture(page, "signed-off")
    walk.report(f"panel: {figures}")
    walk.report(f"signed off, head {head[:24]}…")


async def _send_letters(walk: Walk, page: Page, call: str) -> None:
    await page.goto(f"{walk.address}/console/calls/{call}/letters")
    await page.get_by_role("button", name="Tick all").click()
    await page.get_by_role("button", name="Mark the ticked letters as sent").click()
    await page.get_by_role("button", name="Tick all").wait_for(state="hidden")
    walk.report(f"{await page.locator('#letters').inner_text()} marked as sent")


async def _export(walk: Walk, client: AsyncClient, call: str) -> None:
    for format in ("csv", "xlsx", "jsonl"):
        path = await client.batches.save_results(call, walk.home / f"{call}.{format}", format=format)
        walk.report(f"exported {format}: {_format_size(path)}")
    dossier = await client.batches.save_dossier(call, walk.home / "dossier.pdf")
    walk.report(f"dossier: {_format_size(dossier)}")
    _verify(walk, "log.jsonl")


def _format_size(path: Path) -> str:
    return f"{path.stat().st_size:,} bytes"


def _verify(walk: Walk, name: str) -> None:
    head = walk.run("admin", "audit-log", "export", name).split()[-1]
    walk.report(walk.run("admin", "audit-log", "verify", name, "--head", head).replace("\n", " "))


async def _erase(walk: Walk, page: Page) -> None:
    await page.goto(f"{walk.address}/console/erase?source=A-2026-0003.txt")
    await page.get_by_label("Delete all of this").check()
    await walk.save_picture(page, "erase")
    await page.get_by_role("button", name="Delete it").click()
    await page.wait_for_url("**/console/erase/*")
    await walk.save_picture(page, "erased")
    walk.report("one applicant erased")
    _verify(walk, "log-after.jsonl")


def main() -> None:
    parser = build_parser("console.walkthrough", __doc__)
    parser.add_argument("--data", type=Path, help="folder of real ideas, such as ../shared/data")
    parser.add_argument("--corpus", type=Path, default=_ROOT / "examples" / "corpus.jsonl", help="corpus to search")
    parser.add_argument("--pictures", type=Path, help="folder for screenshots; not with --data")
    parser.add_argument("--files", type=int, default=118, help="number of files to use, for a shorter run")
    options = parser.parse_args()
    if options.data and options.pictures:
        parser.error("--pictures cannot be used with --data, because screenshots must not show real ideas")
    *single_files, table = read_proposals(options.data) if options.data else generate_proposals()
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    print(format_heading(), flush=True)
    with tempfile.TemporaryDirectory(prefix="assayer-walk-") as folder, Simulator(latency_mean=0) as simulator:
        home = Path(folder)
        home.chmod(0o711)  # as root, PostgreSQL runs as another user
        walk = Walk(home, simulator, options.pictures)
        walk.run("corpus", "build", options.corpus.resolve())
        with walk.serve():
            asyncio.run(run_walkthrough(walk, [*single_files[: options.files], table]))


if __name__ == "__main__":
    main()

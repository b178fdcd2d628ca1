"""`assayer policy`: training of a model, with rewards from the service's judge or on SciCompanion trajectories."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from cluster.cli.terminal import StageProgress, say, status

if TYPE_CHECKING:
    from assayer.models.learning_curve import LearningPoint
    from workers.policy_training import CompanionTraining, PolicyTraining

app = typer.Typer(
    no_args_is_help=True, help="Train a model: to propose ideas that the judge rewards, or to walk SciCompanion's loop."
)

Plan = Annotated[Path, typer.Argument(metavar="FILE", help="Training plan (TOML).")]


@app.command()
def train(
    plan: Plan,
    ray: Annotated[
        bool, typer.Option("--ray", help="Train as a Ray task, which is restarted if its process dies.")
    ] = False,
    address: Annotated[
        str | None,
        typer.Option(help="Address of a running Ray cluster, such as auto; by default a private one is started."),
    ] = None,
) -> None:
    """Train, or continue from the last checkpoint. Needs the extra rl. Rewards from the judge need a service
    (ASSAYER_API_URL, ASSAYER_API_KEY); SciCompanion needs a corpus, and ideas with known scores."""
    from workers.policy_training import read_policy_training
    from workers.policy_training.training import CURVE_FILES

    wanted = read_policy_training(plan)
    with ExitStack() as stack:
        if ray or address is not None:
            from cluster.ray_cluster import existing_cluster, private_environment, training_cluster

            if address is not None:
                stack.enter_context(existing_cluster(address))
            else:
                folder = stack.enter_context(private_environment())
                stack.enter_context(training_cluster(folder, wanted.machine.cpus, wanted.machine.gpus))
            from cluster.policy_training import train_on_ray

            stack.enter_context(status("Training"))
            curve = train_on_ray(wanted)
        else:
            from cluster.policy_training import train_here

            report = stack.enter_context(StageProgress())

            def told(point: "LearningPoint") -> None:
                report("Steps", point.step, wanted.grpo.steps)

            curve = train_here(wanted, told)
    last = curve.points[-1]
    reward = "no reward" if last.reward is None else f"mean reward {last.reward:.3g}"
    page, policy = (escape(str(wanted.folder / name)) for name in (CURVE_FILES[0], "policy"))
    say(
        f"{last.step:,} steps; in the last one {reward}, {last.judged:.0%} judged. The policy is in {policy}, its "
        f"learning curve in {page}."
    )


@app.command()
def check(plan: Plan) -> None:
    """Read the plan and its data, and show what a training run would do; no model is loaded."""
    from workers.policy_training import CompanionTraining, read_policy_training
    from workers.policy_training.training import last_checkpoint

    wanted = read_policy_training(plan)
    problems = _companion_summary(wanted) if isinstance(wanted, CompanionTraining) else _policy_summary(wanted)
    say(f"{escape(wanted.policy.model)}: {wanted.grpo.steps:,} steps of {problems}")
    begun = last_checkpoint(wanted.folder)
    if begun is not None:
        say(f"It would continue from {escape(str(begun))}.")


def _policy_summary(wanted: "PolicyTraining") -> str:
    from workers.policy_training.training_rows import read_training_rows

    rows, grpo = read_training_rows(wanted.data), wanted.grpo
    return (
        f"{grpo.questions:,} questions with {grpo.generations:,} ideas each, from {len(rows):,} questions; "
        f"{grpo.steps * grpo.completions:,} rewards in all."
    )


def _companion_summary(wanted: "CompanionTraining") -> str:
    """Return a summary of the training. Raises InputError if there is no corpus in the folder."""
    from index.corpus_parts import describe_corpus
    from workers.policy_training.companion_training import calls_of, read_companion_ideas

    ideas, grpo = read_companion_ideas(wanted), wanted.grpo
    papers, calls = describe_corpus(wanted.corpus).papers, calls_of(wanted, ideas)
    return (
        f"{grpo.questions:,} ideas with {grpo.generations:,} rollouts each, from {len(ideas):,} ideas over "
        f"{papers:,} papers; at most {grpo.steps * grpo.completions * calls:,} answers of the policy in all."
    )

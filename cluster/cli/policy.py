"""`assayer policy`: train a model with rewards from the service's judge, or on SciCompanion trajectories."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from cluster.cli.options import WithJson
from cluster.cli.terminal import Outcome, StageProgress, show_status

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
        bool, typer.Option("--ray", help="Train in a Ray task that is restarted if its process dies.")
    ] = False,
    address: Annotated[
        str | None,
        typer.Option(help="Address of a running Ray cluster, such as auto; by default a private one is started."),
    ] = None,
    as_json: WithJson = False,
) -> None:
    """Train a model, or resume from the last checkpoint. Needs the extra rl. Rewards from the judge need a service
    (ASSAYER_API_URL, ASSAYER_API_KEY); SciCompanion needs a corpus, and ideas with known scores."""
    from workers.policy_training import read_policy_training
    from workers.policy_training.training import CURVE_FILES

    training_plan = read_policy_training(plan)
    with ExitStack() as stack:
        if ray or address is not None:
            from cluster.ray_cluster import enter_private_environment, join_existing_cluster, start_training_cluster

            if address is not None:
                stack.enter_context(join_existing_cluster(address))
            else:
                folder = stack.enter_context(enter_private_environment())
                stack.enter_context(
                    start_training_cluster(folder, training_plan.machine.cpus, training_plan.machine.gpus)
                )
            from cluster.policy_training import train_on_ray

            stack.enter_context(show_status("Training"))
            curve = train_on_ray(training_plan)
        else:
            from cluster.policy_training import train_here

            report = stack.enter_context(StageProgress())

            def print_point(point: "LearningPoint") -> None:
                report("Steps", point.step, training_plan.grpo.steps)

            curve = train_here(training_plan, print_point)
    last_point = curve.points[-1]
    reward = "no reward" if last_point.reward is None else f"mean reward {last_point.reward:.3g}"
    page, policy = (training_plan.folder / name for name in (CURVE_FILES[0], "policy"))
    with Outcome(as_json=as_json) as outcome:
        outcome.add(
            f"{last_point.step:,} steps; in the last one {reward}, {last_point.judged:.0%} judged. The policy is in "
            f"{escape(str(policy))}, its learning curve in {escape(str(page))}.",
            last_step=last_point,
            policy=policy,
            curve=page,
        )


@app.command()
def check(plan: Plan, as_json: WithJson = False) -> None:
    """Read the plan and its data, and show what a training run would do, without loading a model."""
    from workers.policy_training import CompanionTraining, read_policy_training
    from workers.policy_training.training import find_last_checkpoint

    training_plan = read_policy_training(plan)
    last_checkpoint = find_last_checkpoint(training_plan.folder)
    with Outcome(as_json=as_json) as outcome:
        outcome.add(model=training_plan.policy.model, steps=training_plan.grpo.steps, checkpoint=last_checkpoint)
        if isinstance(training_plan, CompanionTraining):
            _add_companion(outcome, training_plan)
        else:
            _add_policy(outcome, training_plan)
        if last_checkpoint is not None:
            outcome.add(f"Training would resume from {escape(str(last_checkpoint))}.")


def _add_policy(outcome: Outcome, training_plan: "PolicyTraining") -> None:
    from assayer.reports.wording import format_count
    from workers.policy_training.training_rows import read_training_rows

    rows, grpo = len(read_training_rows(training_plan.data)), training_plan.grpo
    rewards = grpo.steps * grpo.completions
    outcome.add(
        f"{escape(training_plan.policy.model)}: {format_count(grpo.steps, 'step')} of "
        f"{format_count(grpo.questions, 'question')} with {format_count(grpo.generations, 'idea')} each, from "
        f"{format_count(rows, 'question')}; {rewards:,} rewards in total.",
        questions=rows,
        rewards=rewards,
    )


def _add_companion(outcome: Outcome, training_plan: "CompanionTraining") -> None:
    """Add a summary of the training plan. Raises InputError if the folder contains no corpus."""
    from assayer.reports.wording import format_count
    from index.corpus_parts import describe_corpus
    from workers.policy_training.companion_training import compute_max_calls, read_companion_ideas

    ideas, grpo = read_companion_ideas(training_plan), training_plan.grpo
    papers, calls = describe_corpus(training_plan.corpus).papers, compute_max_calls(training_plan, ideas)
    answers = grpo.steps * grpo.completions * calls
    outcome.add(
        f"{escape(training_plan.policy.model)}: {format_count(grpo.steps, 'step')} of "
        f"{format_count(grpo.questions, 'idea')} with {format_count(grpo.generations, 'rollout')} each, from "
        f"{format_count(len(ideas), 'idea')} over {format_count(papers, 'paper')}; "
        f"at most {answers:,} answers of the policy in total.",
        ideas=len(ideas),
        papers=papers,
        answers_at_most=answers,
    )

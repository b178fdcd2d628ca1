"""Questions that prompts ask a language model, in words for readers who do not know the prompts' names."""

QUESTIONS: dict[str, str] = {
    "review.referee": "What would a referee say about the proposal as a whole?",
    "review.referee_brief": "What would a referee say about the proposal in a few points?",
    "review.walkthrough": "What would a specialist say about the proposal, sentence by sentence?",
    "review.scores": "Read by itself, how sound is the proposal, and what would it add?",
    "review.look": "Which of the papers found are worth reading for the referees' points?",
    "review.reading": "What do these papers say about the referees' points?",
    "review.reading_brief": "What do these few papers say about the referee's points?",
    "review.editor": "What short review follows from the points and the papers?",
    "review.editor_brief": "What very short review follows from the points and the papers?",
    "review.editor_by_criteria": "What short review, also by the call's criteria, follows from the points and papers?",
    "scholareval.methods": "Which methods does the proposal plan to use?",
    "scholareval.dimensions": "In which respects does the proposal claim to add something new?",
    "scholareval.first_look": "Which of the papers found are worth reading for this?",
    "scholareval.reading": "What does each paper say about the proposal's methods?",
    "scholareval.review": "How sound is each method, in the light of these papers?",
    "scholareval.summary": "What do the reviews of the methods add up to?",
    "scholareval.comparison": "How does the proposal compare with each earlier paper?",
    "scholareval.synthesis": "What is new in each respect, in the light of these papers?",
    "grapheval.viewpoints": "Which separate statements does the proposal make?",
    "grapheval.relations": "Which of these statements are related?",
    "innoeval.extraction": "Which parts does the proposal consist of?",
    "innoeval.queries": "What should be searched for about each part?",
    "innoeval.refinement": "How should a search that found nothing be reworded?",
    "innoeval.relevance": "Which search results should a reviewer of the proposal read?",
    "innoeval.grounding": "What do the search results say for and against each part?",
    "innoeval.judging": "What does a simulated reviewer think of the proposal in each respect?",
    "innoeval.synthesis": "What do the simulated reviews add up to?",
    "innoeval.advice": "How could the proposal be improved?",
    "scicompanion.queries": "What should be searched for?",
    "scicompanion.step": "What do the search results add to what is known about the proposal?",
    "scicompanion.completion": "What is still unknown about the proposal?",
    "scicompanion.trace": "What should be noted at this step?",
    "scicompanion.judging": "How good is the proposal in one respect?",
    "debate.moderator": "Who should speak next in the debate about the proposal?",
    "debate.analyst": "What are the arguments for the proposal?",
    "debate.critic": "What are the arguments against it?",
    "debate.evaluator": "Which score follows from the debate?",
    "plan.flaws": "Judging by the plan's text alone, what is wrong with it?",
    "blinding.names": "Which names of its authors does the masked proposal still contain?",
    "criteria.judging": "Judging by the report's findings, how well does the proposal meet the call's own criteria?",
    "bias_test.persuasive": "How would the same proposal read if it were worded to persuade?",
    "bias_test.persuasive_check": "Does the reworded proposal have the same content as the original?",
    "support.claims": "Do the quoted passages support the claims?",
}
"""Questions keyed by task name, for all tasks that an evaluation can run."""


def get_question(task: str) -> str:
    """Return the question that a task asks; for a task that is not in `QUESTIONS`, the last part of its name."""
    return QUESTIONS.get(task) or task.rpartition(".")[2].replace("_", " ")

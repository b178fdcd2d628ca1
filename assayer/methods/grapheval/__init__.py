"""GraphEval: ideas as graphs of viewpoints, judged by their labelled neighbours."""

"""ScholarEval with every remote source on: are all of them used, and does none see a request over its limit?"""

import numpy as np
from sparse_problems import materialized, sense, sparse_in

from sparsedp.decoders.cosamp import conjugate_gradients


def test_equals_the_solution_of_the_normal_equations_from_any_guess() -> None:
    problem = sense(sparse_in("haar", 64, 5, 0), "haar", "hadamard", 40, 5, 0.1, 0)
    support = np.array([1, 5, 8, 40, 63])
    columns = materialized(problem)[:, support]
    gram, target = columns.T @ columns, np.arange(1.0, 6.0)
    for guess in (np.zeros(5), np.ones(5)):
        found = conjugate_gradients(problem, support, guess, target - gram @ guess, goal=1e-10, most_steps=50)
        np.testing.assert_allclose(found, np.linalg.solve(gram, target), atol=1e-9)


def test_stops_at_the_goal_and_at_the_steps() -> None:
    problem = sense(sparse_in("haar", 64, 5, 0), "haar", "hadamard", 40, 5, 0.1, 0)
    support, guess, gradient = np.arange(10), np.zeros(10), np.ones(10)
    assert not conjugate_gradients(problem, support, guess, gradient, goal=10.0, most_steps=50).any()
    assert not conjugate_gradients(problem, support, guess, gradient, goal=0.0, most_steps=0).any()
    assert not guess.any()


def test_a_direction_that_is_not_seen_ends_it() -> None:
    problem = sense(np.ones(2), "identity", "hadamard", 1, 1, 0.1, 0)
    row = materialized(problem)[0]
    unseen = np.array([row[1], -row[0]])
    assert not conjugate_gradients(problem, np.arange(2), np.zeros(2), unseen, goal=0.0, most_steps=9).any()

"""
Sensors to place
================

Eight sensors for a floor of two halls with one door between them: where do they tell most about the places without a sensor?
Nothing has been measured yet, so this is a question about the covariance of the field alone, and the samplers ``vm`` (the total
variance) and ``sigma`` (the total covariance) answer it before the first reading.
"""

# %%
# The floor as a graph
# --------------------
#
# One node per square meter, joined to its neighbors; a wall cuts the edges, except at the door.

import matplotlib.pyplot as plt
import numpy as np

import askgraph as ag

ROWS, COLUMNS, WALL, DOOR = 14, 24, 10, (6, 7)
node = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
edges = [(node[r, c], node[r + 1, c]) for r in range(ROWS - 1) for c in range(COLUMNS)]
edges += [(node[r, c], node[r, c + 1]) for r in range(ROWS) for c in range(COLUMNS - 1) if c != WALL or r in DOOR]
floor = ag.Graph.from_edges(edges)
print(floor)

# %%
# Eight places at once
# --------------------
#
# ``ask(8)`` chooses places that go together: each as if the ones before it had a sensor already.

places = {}
for sampler in ("vm", "sigma", "random"):
    learner = ag.Learner(floor, sampler, rng=1, first="utility", delta=0.02)
    places[sampler] = learner.ask(8)

print({sampler: [int(k) for k in chosen] for sampler, chosen in places.items()})

# %%
# What is left unknown
# --------------------
#
# The standard deviation of the field where there is no sensor, given eight sensors: lower is better.


def uncertainty(chosen):
    """Return the standard deviation at every node, given exact readings at some."""
    field = ag.Field.start(ag.prior(floor, delta=0.02), 2)
    for place in chosen:
        field = field.observe(int(place), 0)
    return np.sqrt(np.maximum(field.spread.variance, 0))


fig, axes = plt.subplots(1, 3, figsize=(12, 3), sharey=True, layout="constrained")
maps = {sampler: uncertainty(chosen).reshape(ROWS, COLUMNS) for sampler, chosen in places.items()}
top = max(image.max() for image in maps.values())
for one, (sampler, image) in zip(axes, maps.items(), strict=True):
    drawn = one.imshow(image, cmap="viridis", vmin=0, vmax=top)
    rows, columns = np.unravel_index(places[sampler], (ROWS, COLUMNS))
    one.scatter(columns, rows, color="white", edgecolors="black", s=50)
    for edge in (-0.5, DOOR[1] + 0.5):
        one.plot([WALL + 0.5] * 2, [edge, DOOR[0] - 0.5 if edge < 0 else ROWS - 0.5], color="white", linewidth=3)
    one.set_title(f"{sampler}: mean {image.mean():.2f}")
    one.set_xticks([])
    one.set_yticks([])

fig.colorbar(drawn, ax=axes, label="standard deviation")

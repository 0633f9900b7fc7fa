"""The texts of the report."""

OF_CLAIMS = """
Each check is a mean with its 95 % interval by Student's t, over runs (differences are taken run by run, the runs
paired by their seed) unless said. It says yes or no when the whole interval does, and cannot tell otherwise. A claim
holds when all its checks say yes, or more than half of them where its rule says so; it does not hold when none does
and some say no (or more than half say no, where more than half would do); it is undecided when none tells; else it
holds partly. eer and tsa stand in the claims as their authors have them, without the paper's doubt. The checks were
written before their results were seen.
"""

OF_FIGURES = """
Accuracy on the nodes without a label against the number of labels; bands are ± 2 standard errors over runs. Left the
samplers that the paper proposes, right those of others, random sampling in both. Solid is the paper's readout (the
class with the largest mean), dashed the class-mass readout of the same fields (without bands).
"""

OF_GROWTH = """
Exponents of growth in the number of nodes / in the number of classes, fitted to measurements on 10-nearest-neighbor
graphs of points in a cube: least squares in logarithms over the larger sizes, with the standard error. `paper` is the
paper's algorithm in numpy with full matrices (its set-up is an inverse, where the paper counts Jacobi sweeps); the
others are our engines. Memory is the peak above the graph, without what BLAS and SuperLU allocate for themselves. A
closed-form question of a few thousand nodes is too quick for its growth to show.
"""

OF_TABLES = """
The paper speaks of seven datasets and lists six; its shares are cut to two digits. It does not say why it has fewer
rows of three: its baseline shares are those of all rows. Rows that our thresholds leave without an edge (last column)
are kept.
"""

INTRO = """
The numerical tests of Berberidis and Giannakis, "Data-adaptive Active Sampling for Efficient Graph-Cognizant
Classification" (IEEE Transactions on Signal Processing, 2018), made again with askgraph on the same data, and each of
their claims with a verdict. All classes are declared to the learner beforehand; the first question of a run is
random; the formulas are the printed ones unless said.
"""

HURRIED = """
**This is a quick run**: few runs of few labels, to see that all parts work. Its verdicts mean nothing.
"""

TUNING = """
Tuned as the paper says, on seeds that no figure uses: for each of six thresholds (cutting none, 50, 75, 90, 95 and 98
% of the positive weights) the delta of six between 0.001 and 0.1 at which random sampling has the highest mean
accuracy; then the threshold at which the best of the eleven samplers peaks. All other graphs take delta 0.005.
"""

DOUBT = """
Doubt is t^(−1/2) on the smaller similarity datasets and none on the larger, as in the paper; it does not name them,
and colon cancer, leukemia and Parkinsons are our reading of the smaller. All other graphs have doubt t^(−1/2). It
does not enter vm, sigma, unc and random. Fig. 3 shows every sampler with doubt above and without below. The other
figures show eer and tsa as their authors have them, without doubt, and dotted with it.
"""

OF_RUNTIMES = """
Seconds of a question and its update relative to tv's, after 10 labels, without doubt. Of the paper's look-ahead a
share of the candidates is timed and scaled up. Ours uses all cores for its look-ahead; matrix products run on one.
The numbers are ratios of medians; claim 11 takes means over questions.
"""

CORRELATION = "the paper's formula for Pearson's correlation, which is the uncentered cosine"
PEARSON = "Pearson's correlation, centered"

GLOSSARY = """
**Samplers**, by the paper: tv (total variation), msd (mean-square deviation), klg (KL divergence of the Gaussian
field), fl (expected number of flips), kl (KL divergence of the labels); by others: sigma (Σ-optimality), vm (variance
minimization), eer (expected error reduction), tsa (two-step approximation), unc (minimum margin), random. **Delta**
is the self-loop of every node that makes the precision of the field invertible. **Doubt** is the share of a uniform
distribution that is blended into the expected answers (the paper's α). The **printed** form takes the paper's
formulas as they stand, the **derived** form the exact expectations where the two differ (above two classes). The
**class-mass readout** divides each class's votes by their total over the unlabeled nodes before deciding; the paper's
takes the class of the largest mean. **Max–min** chooses by the least change over the possible answers. All of them
are explained in the guide of askgraph.
"""

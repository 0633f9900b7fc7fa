"""The texts of the report."""

OF_CLAIMS = """
Each check is a mean with its 95 % interval by Student's t, over runs (differences are taken run by run, the runs
paired by their seed) unless said. It says yes or no when the whole interval does, and cannot tell otherwise. A claim
holds when all its checks say yes, or more than half of them where its rule says so; it does not hold when none does
and some say no (or more than half say no, where more than half would do); it is undecided when none tells; else it
holds partly. Where the paper leaves a setting open, the claim is judged under several **readings** of it, of which the
first is the one that the figures show. A claim **depends** on a setting when it holds under some readings and not
under others; else the first reading gives the verdict. eer and tsa stand in the claims as their authors have them,
without the paper's doubt. The rules were written before their results were seen; where a rule is other than in the
report before, the claim says so and why.
"""

FEW_RUNS = """
**Not judged:** there are too few runs for verdicts. The tables show that every check can be computed.
"""

OF_FIGURES = """
Accuracy on the nodes without a label against the number of labels; bands are ± 2 standard errors over runs. Left the
samplers that the paper proposes, right those of others, random sampling in both. The last row shows the class-mass
readout of the fields of the first row; all other rows show the paper's readout, the class with the largest mean.
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
rows of three: its baseline shares are those of all rows. Perhaps it dropped rows without an edge, or small components:
for each of the six there are thresholds that leave just as many rows, and Ecoli's largest component has 326 rows over a
wide range of them; but a rising threshold passes through most counts, so this says little. Rows that our thresholds
leave without an edge (last column) are kept: see the assumptions.
"""

INTRO = """
The numerical tests of Berberidis and Giannakis, "Data-adaptive Active Sampling for Efficient Graph-Cognizant
Classification" (IEEE Transactions on Signal Processing, 2018), made again with askgraph on the same data, and each of
their claims with a verdict. All classes are declared to the learner beforehand; the first question of a run is
random; the formulas are the printed ones unless said.
"""

HURRIED = """
**This is a quick run**: few runs of few labels, to see that all parts work. It judges no claim.
"""

TUNING = """
Tuned as the paper says, on seeds that no figure uses: the delta of six between 0.001 and 0.1 at which random sampling
has the highest mean accuracy, for the grid and the LFR graph over graphs drawn afresh, and for each similarity graph at
each of six thresholds (cutting none, 50, 75, 90, 95 and 98 % of the positive weights); then the threshold at which the
best of the eleven samplers peaks. Cora, CiteSeer and the blogs have delta 0.005, as in the paper.
"""

OF_ASSUMPTIONS = "What the paper does not say, and what is done here instead."

ASSUMPTIONS = (
    """**Nodes that no label reaches.** The paper assumes a connected graph; a threshold leaves some rows without an edge.
    They are kept, since dropping them would reward thresholds that drop what is hard. Where classes tie, as at such a node, it
    counts as 1/k right for k classes, so that no figure depends on the names of the classes. Components with less than 1 % of
    the nodes are asked for last (`small_components="wait"`), which changes nothing on a connected graph.""",
    """**The grid.** "Additional class 1 nodes along the dividing lines": on one row beside each square. Around the squares is a
    reading.""",
    """**The LFR graph.** Drawn by `communities`: mixing 0.1, mean degree 10, degrees by a power law of exponent 3, communities
    of 250, 350 and 400 nodes. The paper gives the number of nodes and of classes only. Other mixings are readings.""",
    """**Delta of the grid and the LFR graph.** Tuned like that of the similarity graphs; 0.005 is a reading, and on the grid, where
    random sampling is level over all six deltas, so is 0.1.""",
    """**Doubt.** t^(−1/2) on the smaller similarity datasets and none on the larger, as in the paper; it does not name them, and
    colon cancer, leukemia and Parkinsons are taken for the smaller. All other graphs have doubt t^(−1/2). It does not enter vm,
    sigma, unc and random. t is the number of labels so far; the paper counts iterations, one more. For tv the paper prints no
    formula with doubt: a/2 of Σ-opt and (1 − a) of tv, after its formula for msd.""",
    """**Several classes.** The uncertainty factor is Σ(1 − p²) with p the normalized probabilities, as printed; Σ(1 − μ²) is a
    reading.""",
    """**EER.** On the ±1 field. The field of {0, 1} labels, where 1 is the rarer class, is a reading, for two classes.""",
    """**TSA.** With β = 1 and the mean-field marginals of its authors: the paper does not repeat them.""",
    """**The first question** is random, and all classes are declared to the learner beforehand.""",
)

SLIPS = (
    """The factor 2(1 − μ²) of total variation: 1 − μ² is meant, a constant that changes no question.""",
    """The relation of TV to Σ-opt is printed with 1/g; by the formulas it is TV = (1 − μ²) Σ-opt / ‖g‖₁.""",
    """Random questions (32) are drawn from the unlabeled nodes, not from the labeled ones as the index set says.""",
    """Table I counts O(C N²) for a question of FL. C answers, each of which moves C fields at N nodes, for N candidates, take
    O(C² N²), as for EER and TSA; that is what is timed here.""",
    """"Non-adaptive TV and Σ-opt" on the political blogs means VM and Σ-opt.""",
    """Seven datasets are announced and six listed.""",
)

OF_RUNTIMES = """
Seconds of a question and its update relative to tv's, after 10 labels, without doubt. Of the paper's look-ahead a
share of the candidates is timed and scaled up. Ours uses all cores for its look-ahead; matrix products run on one.
The numbers are ratios of medians, and the lines span the middle half of the questions; claim 11 takes means over
questions.
"""

BUSY = """
**The machine was busy while costs were measured** ({load:.1f} processes wanted its {cores} cores): the seconds
and their ratios below may be off. Delete costs.jsonl and repeat the command on an idle machine.
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

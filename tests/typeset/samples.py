"""Formulas that between them use every node and every odd corner; not a test file itself."""

FORMULAS = [
    r"x", r"1{,}234.5", r"\sigma_s^2", r"\mathbf q_i^\top\mathbf k_j", r"f''(x)^{2}", r"\frac{QK^\top}{\sqrt{d_k}} + M",
    r"\tfrac12 + \dfrac{a}{b}", r"\binom{n}{k}", r"\sqrt[3]{x}", r"\sum_{j=1}^{T} p_{ij}\,\mathbf v_j",
    r"\max_j s_j", r"\operatorname{softmax}(\mathbf s/\tau)", r"\operatorname*{arg\,max}_j s_j", r"\arg\max_j s_j",
    r"\lim_{\tau \to 0} e^{-1/\tau}", r"\left(\frac{a}{b}\middle|c\right]", r"\left. x \right|_0",
    r"\mathbb E\big[X\big] \Big/ \bigl( \Bigg\| \biggr\}", r"\begin{pmatrix} 1 & -2 \\ 3 & 4 \end{pmatrix}",
    r"\begin{bmatrix} a \end{bmatrix} \begin{matrix} a & b \end{matrix} \begin{vmatrix} a \end{vmatrix}",
    r"\begin{Vmatrix} a \end{Vmatrix}", r"\begin{array}{l|cr} 1 & 2 & 3 \\ 44 & 55 & 66 \end{array}",
    r"M_{ij} = \begin{cases} 0 & j \le i \\ -\infty & \text{otherwise} \end{cases}",
    r"\begin{aligned} a &= b + c \\ &= d \end{aligned}", r"\underbrace{2T^2d}_{QK^\top} + \overbrace{x}^{y}",
    r"\overset{\text{def}}{=} \underset{j}{x} \stackrel{a}{=} \xrightarrow[b]{a}", r"\hat{\mathbf q} \bar x \tilde p",
    r"\vec v \dot x \ddot x \widehat{xy} \widetilde{xy} \overline{x} \underline{x}", r"a\,b\:c\;d\!e\quad f\qquad g\ h",
    r"\boxed{x + 1}", r"\textstyle\sum_j x_j", r"\displaystyle\sum_j x_j", r"\sum\limits_j x \int\nolimits_0^1 y",
    r"\sum_{\substack{i \\ j}} x", r"\mathcal L \mathbb R^{T \times T} \mathrm{KV} \mathit{ab} \mathsf x \mathtt{fp16}",
    r"\boldsymbol\Sigma \mathbf\alpha \boldsymbol{x} \mathbb 1 \mathbf 1", r"5\% \#\$\_\&\{x\}", r"\text{if } x > 0",
    r"\textbf{b} \textit{i} \texttt{a b} \textrm{r}", r"x' x'' {}^{2} {}_i", r"a \bmod b",
    r"\lvert x\rvert \lVert y\rVert",
    r"\lfloor x \rfloor \lceil y \rceil \langle z \rangle", r"2\cdot -3 + (-4) \to -5",
    r"s \mid \mathbf q \sim \mathcal N(0, 1)",
    r"\{1, \ldots, n\} \cdots \vdots \ddots", r"a < b > c \lt d \gt e", r"n! / 2 ; x : y . z ? \colon *", "",
][:-1]  # fmt: skip

TEXTS = [
    "A plain paragraph, with \"quotes\", an apostrophe's tick and $x_i$.",
    "Two\nlines.  \nA break.\\\nAnother.\n\nA second paragraph.",
    "**bold $x$** and *italic* and `code_x * 2` and 2 * 3 and d_k.",
    "- one\n- two with $y$\n\n  and more\n  1. nested\n  2. list\n- three",
    "3. three\n4. four",
    "| a | $b$ | c |\n|:--|:-:|--:|\n| 1 | **2** | `3` |\n| 4 | 5 | 6 |",
    "Displayed:\n$$\\sum_j p_j = 1$$\nand on.",
    "```python\nx = a[1] * \"2\"  # {}\n\ny\n```",
    "Signs \\* \\_ \\$ \\# \\\\ \\< and < 3 & > 2, 50 % of 1/2 [x] {y} ~ ^ @ = + -",
    "Unicode: − × → ≤ √ µ é Ł “q” … – ½",
]  # fmt: skip

"""A wrong program prints wrong numbers, and they are grounded: only a certified value can tell."""

from scisolve_batch import Cell, CertifiedValue, Problem, check_grounding, grade

cell = Cell(index=1, code="print('area', 3.0 * 2.0**2)", stdout="area 12.0\n")
problem = Problem(
    id="circle",
    statement="Report the area of a circle of radius 2.",
    values=(CertifiedValue(name="area", value="12.566370614", rtol=1e-6),),
)
report = check_grounding("area = 12.0", [cell], problem.statement)
assert report.grounded, "closed: this would be a checker of correctness"
assert grade(problem, answer="area = 12.0", values=()).correct is False

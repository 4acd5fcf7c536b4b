// A heat map of noisy numbers shows features that are none. So a square takes the colour that its row and its column
// lead one to expect, unless its range excludes that; then it takes that of the nearest end of its range.

// What each square would be if rows and columns had nothing to do with one another; zero where that makes no sense.
function expectedSquares(picture) {
  const across = sizeOf(picture.axes[1]), down = picture.values.length / across;
  const rows = new Array(down).fill(0), columns = new Array(across).fill(0);
  picture.values.forEach((value, index) => {
    rows[Math.floor(index / across)] += value;
    columns[index % across] += value;
  });
  const total = rows.reduce((sum, row) => sum + row, 0);
  const sound = total > 0 && Math.min(...rows, ...columns) >= 0;
  return picture.values.map((_, index) => (sound ? (rows[Math.floor(index / across)] * columns[index % across]) / total : 0));
}

function withoutNoise(picture) {
  return expectedSquares(picture).map((expected, index) => {
    const { value, low, high, known } = worth(picture, index);
    return known ? Math.min(high, Math.max(low, expected)) : value;
  });
}

// Whether a square's difference from its row and column could be noise.
function couldBeNoise(picture, index) {
  const { low, high, known } = worth(picture, index), expected = expectedSquares(picture)[index];
  return known && high > low && low <= expected && expected <= high;
}

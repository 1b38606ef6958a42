/**
 * Resource quantities as numbers: `100m`, `2`, `64Mi`, `1e3`. Doubles are exact enough to compare requests with what a
 * simulated machine has. Source: apimachinery resource.Quantity.
 */

const suffixes: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60
}

/** 0 for what is absent or no quantity: the API server has validated it, and a kubelet must not fall over it. */
export const parse = (text: string | undefined): number => {
  const match = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)([A-Za-z]*)$/.exec(text ?? "")
  if (match === null) return 0
  const scale = suffixes[match[2] ?? ""]
  return scale === undefined ? 0 : Number(match[1]) * scale
}

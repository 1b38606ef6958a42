/** Parses the text format of Prometheus: the families, with their labels and bounds. Throws on invalid text. */

export interface Family {
  readonly type: string
  readonly help: string
  /** Names of the labels of all its series, sorted, without `le`; series that differ in them are an error. */
  readonly labels: ReadonlyArray<string>
  /** The finite upper bounds of a histogram. */
  readonly bounds: ReadonlyArray<number>
}

interface Found {
  type: string
  help: string
  labels: ReadonlyArray<string> | undefined
  readonly bounds: Set<number>
}

const sample = /^([a-zA-Z_:][\w:]*)(?:{(.*)})? \S+$/
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

export const parse = (text: string): ReadonlyMap<string, Family> => {
  const found = new Map<string, Found>()
  const family = (name: string): Found => {
    const one = found.get(name) ?? { type: "", help: "", labels: undefined, bounds: new Set() }
    found.set(name, one)
    return one
  }
  for (const line of text.split("\n")) {
    const [, kind, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (kind === "HELP") family(name).help = rest
    else if (kind === "TYPE") family(name).type = rest
    else if (line !== "") note(found, line)
  }
  return new Map(
    Array.from(found, ([name, { bounds, help, labels = [], type }]) => [
      name,
      { type, help, labels, bounds: [...bounds].sort((a, b) => a - b) }
    ])
  )
}

const note = (found: ReadonlyMap<string, Found>, line: string): void => {
  const [, name = "", written = ""] = sample.exec(line) ?? []
  const one = found.get(name) ?? found.get(name.replace(/_(bucket|sum|count)$/, ""))
  if (one === undefined) throw new Error(`not a series of a declared family: ${line}`)
  const pairs = Array.from(written.matchAll(label), ([, key = "", value = ""]) => [key, value] as const)
  const names = pairs.map(([key]) => key).filter((key) => key !== "le")
  const labels = names.toSorted()
  if (one.labels !== undefined && one.labels.join() !== labels.join()) {
    throw new Error(`${name} has series with other labels: ${line}`)
  }
  one.labels = labels
  const bound = pairs.find(([key]) => key === "le")?.[1]
  if (bound !== undefined && bound !== "+Inf") one.bounds.add(Number(bound))
}

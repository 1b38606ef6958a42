/**
 * The commands that simulated containers understand: whether one ends by itself, when, and with which code. There is no process: a few words
 * of a shell are known, and everything else is not understood. `behavior.ts` decides what a container with such a command does.
 */
/** An end of a container by itself. */
export interface Exit {
  readonly code: number
  /** Milliseconds after the start. */
  readonly after: number
  /** Of the terminated state; default by the code. */
  readonly reason?: "OOMKilled" | undefined
}

/** What a container does: it ends, or it runs until it is stopped. */
export type Course = Exit | "endless"

const shells = new Set(["sh", "bash", "ash", "dash"])

const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

/** What a command line does: a command with arguments, or a shell with a script. Undefined if it is not understood. */
export const run = (words: ReadonlyArray<string>): Course | undefined => {
  const [first, flag, text] = words
  if (first === undefined) return undefined
  const isScript = shells.has(baseName(first)) && flag !== undefined && /^-[a-z]*c$/.test(flag)
  return isScript ? script(text ?? "", flag.includes("e")) : statement(words, 0)
}

/**
 * Runs statements one after another; undefined if one is not understood. The only loop that is understood is an endless one. Source: POSIX
 * lists, without grouping.
 */
const script = (text: string, stopOnFailure: boolean): Course | undefined => {
  let code = 0
  let after = 0
  let stops = stopOnFailure
  let joint = ";"
  for (const [index, part] of text.split(/(;|&&|\|\||\n)/).entries()) {
    if (index % 2 === 1) {
      joint = part
      continue
    }
    const words = part
      .trim()
      .split(/\s+/)
      .filter((word) => word !== "exec" && word !== "")
    if (words.length === 0 || (joint === "&&" && code !== 0) || (joint === "||" && code === 0)) continue
    if (words[0] === "set") {
      stops ||= words[1]?.includes("e") === true
      continue
    }
    const one = statement(words, code)
    if (one === undefined || one === "endless") return one
    code = one.code
    after += one.after
    if (words[0] === "exit" || (stops && code !== 0)) break
  }
  return { code, after }
}

/** Commands that end at once with success. They read no input, because a container has none. */
const brief = new Set(
  ": true echo printf date env printenv id whoami hostname uname pwd ls cat mkdir touch cp mv rm ln chmod chown".split(
    " "
  )
)

const statement = (words: ReadonlyArray<string>, last: number): Course | undefined => {
  const [name = "", argument] = words
  const command = baseName(name)
  if (brief.has(command)) return { code: 0, after: 0 }
  switch (command) {
    case "false":
      return { code: 1, after: 0 }
    case "while":
      return argument === "true" || argument === ":" ? "endless" : undefined
    case "tail":
      return words.includes("-f") || words.includes("-F") ? "endless" : { code: 0, after: 0 }
    case "exit":
      return argument === undefined ? { code: last, after: 0 } : exitCode(argument)
    case "sleep":
      return sleep(argument ?? "")
    default:
      return undefined
  }
}

const exitCode = (text: string): Exit =>
  /^\d{1,9}$/.test(text) ? { code: Number(text) % 256, after: 0 } : { code: 2, after: 0 }

const units: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3600, d: 86_400 }

/** An invalid duration is a usage error, code 1. */
const sleep = (text: string): Course => {
  if (text === "infinity" || text === "inf") return "endless"
  const match = /^(\d{1,12}(?:\.\d{1,9})?)([smhd]?)$/.exec(text)
  return match === null
    ? { code: 1, after: 0 }
    : { code: 0, after: Number(match[1]) * (units[match[2] ?? ""] ?? 1) * 1_000 }
}

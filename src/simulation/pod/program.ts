/**
 * What a container does once it runs: whether it ends by itself, when, and with which code. There is no image and no process: the annotation
 * {@link exitAnnotation} decides, else the command, of which a few words are understood. A container with any other command runs until it is
 * stopped, like a server.
 */
import type { Pod } from "../../kube/resources.ts"

/**
 * How containers of the pod end: `main=1@5,side=0` ends every run of `main` with code 1 after five seconds, and every run of `side` with
 * code 0 at once. It takes precedence over commands, and may be changed while the pod runs.
 */
export const exitAnnotation = "simulation/exit"

/** Names of containers, separated by commas, whose readiness probes fail as long as they are listed. */
export const unreadyAnnotation = "simulation/unready"

export interface Exit {
  readonly code: number
  /** Milliseconds after the start. */
  readonly after: number
}

interface Command {
  readonly name: string
  readonly command?: ReadonlyArray<string> | undefined
  readonly args?: ReadonlyArray<string> | undefined
}

/** Undefined if the container runs until it is stopped. */
export const exitOf = (pod: Pod, container: Command): Exit | undefined => {
  const text = pod.metadata.annotations?.[exitAnnotation]
  const annotated = text === undefined ? undefined : fromAnnotation(text, container.name)
  return annotated ?? run([...(container.command ?? []), ...(container.args ?? [])])
}

export const isMarkedUnready = (pod: Pod, name: string): boolean =>
  (pod.metadata.annotations?.[unreadyAnnotation] ?? "").split(",").some((one) => one.trim() === name)

const fromAnnotation = (text: string, name: string): Exit | undefined => {
  for (const part of text.split(",")) {
    const match = /^([^=]+)=(\d{1,3})(?:@(\d+(?:\.\d+)?))?$/.exec(part.trim())
    if (match?.[1] === name) return { code: Number(match[2]) % 256, after: Number(match[3] ?? 0) * 1_000 }
  }
  return undefined
}

const shells = new Set(["sh", "bash", "ash", "dash"])

const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

/** What a command line does: a command with arguments, or a shell with a script. */
export const run = (words: ReadonlyArray<string>): Exit | undefined => {
  const [first, flag, text] = words
  if (first === undefined) return undefined
  const isScript = shells.has(baseName(first)) && flag !== undefined && /^-[a-z]*c$/.test(flag)
  return isScript ? script(text ?? "", flag.includes("e")) : statement(words, 0)
}

/** Runs statements one after another; undefined if one is not understood. Source: POSIX lists, without grouping. */
const script = (text: string, stopOnFailure: boolean): Exit | undefined => {
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
    if (one === undefined) return undefined
    code = one.code
    after += one.after
    if (words[0] === "exit" || (stops && code !== 0)) break
  }
  return { code, after }
}

const statement = (words: ReadonlyArray<string>, last: number): Exit | undefined => {
  const [name = "", argument] = words
  switch (baseName(name)) {
    case "true":
    case ":":
    case "echo":
      return { code: 0, after: 0 }
    case "false":
      return { code: 1, after: 0 }
    case "exit":
      return argument === undefined ? { code: last, after: 0 } : exitCode(argument)
    case "sleep":
      return sleep(argument ?? "")
    default:
      return undefined
  }
}

const exitCode = (text: string): Exit | undefined =>
  /^\d{1,9}$/.test(text) ? { code: Number(text) % 256, after: 0 } : { code: 2, after: 0 }

const units: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3600, d: 86_400 }

/** `sleep infinity` never ends; an invalid duration is a usage error, code 1. */
const sleep = (text: string): Exit | undefined => {
  if (text === "infinity" || text === "inf") return undefined
  const match = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text)
  return match === null
    ? { code: 1, after: 0 }
    : { code: 0, after: Number(match[1]) * (units[match[2] ?? ""] ?? 1) * 1_000 }
}

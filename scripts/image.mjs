/**
 * `npm run image`: tries the Dockerfile without a container engine. It carries the instructions out in folders, with the packages of this checkout in place of
 * `npm ci` and with the Node of `tools/runtimes` in place of the base image. The program then runs in what they leave: as the user of the image where this
 * script may change users, and on a read-only file system where it may mount one. It has to respond to probes, and to stop at SIGTERM with exit code 0.
 */
import { DockerfileParser } from "dockerfile-ast"
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync
} from "node:fs"
import { spawnSync } from "node:child_process"
import { basename, join, resolve } from "node:path"
import process from "node:process"
import { folder, main, root, run } from "./run.mjs"
import { nodeOf } from "./runs/installed.mjs"
import { tryProgram } from "./runs/program.mjs"

const said = (line) => process.stdout.write(`${line}\n`)

/** A stage: the folder that stands for its root, and what its instructions have set. */
const stage = (name) => {
  const path = folder("image")
  chmodSync(path, 0o755)
  return { name, path, cwd: "/", env: {}, user: undefined }
}

/** The file or folder of this machine that a path of the image means. */
const at = ({ cwd, path }, one) => join(path, resolve(cwd, one))

const flagsOf = (instruction) => new Map(instruction.getFlags().map((flag) => [flag.getName(), flag.getValue()]))

/** As the engine does: a folder is copied by its content, a file into a folder that the destination ends with a slash for. */
const copy = (instruction, current, stages) => {
  const flags = flagsOf(instruction)
  const words = instruction.getArguments().map((one) => one.getValue())
  const [destination, sources] = [words.at(-1), words.slice(0, -1)]
  const from = flags.has("from") ? stages.find(({ name }) => name === flags.get("from")) : undefined
  for (const source of sources) {
    const origin = from === undefined ? join(root, source) : at(from, source)
    const isFolder = statSync(origin).isDirectory()
    const target = at(
      current,
      destination.endsWith("/") && !isFolder ? join(destination, basename(source)) : destination
    )
    cpSync(origin, target, { recursive: true })
    const [owner] = /^\d+/.exec(flags.get("chown") ?? "") ?? []
    if (owner !== undefined && isRoot) chownSync(target, Number(owner), Number(owner))
  }
}

const isRoot = process.getuid?.() === 0

/** A program of the image by its path there; a variable that names a path of the image, likewise. */
const real = (current, word) => (/^\/(app|nodejs)\//.test(word) ? join(current.path, word) : word)

const environment = (current) =>
  Object.fromEntries(Object.entries(current.env).map(([name, value]) => [name, real(current, value)]))

/** The command with which the user of the stage runs a command, in the folder of the stage; read-only if wanted and possible. */
const asUser = (current, words, readOnly) => {
  const command = words.map((word) => real(current, word))
  const user = current.user?.split(":")[0]
  const ids = user === undefined || !isRoot ? [] : ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"]
  if (!readOnly) return [...ids, ...command]
  const mount = `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0${current.cwd}" && exec "$@"`
  return ["unshare", "--mount", "sh", "-c", mount, current.path, ...ids, ...command]
}

/** Runs with the folder of another stage, if the instruction mounts one. */
const mounting = (instruction, current, stages, work) => {
  const { from, source, target } = Object.fromEntries(
    (flagsOf(instruction).get("mount") ?? "").split(",").map((option) => option.split("="))
  )
  if (from === undefined) return work()
  const path = at(current, target)
  symlinkSync(
    at(
      stages.find(({ name }) => name === from),
      source
    ),
    path
  )
  work()
  unlinkSync(path)
}

const runInstruction = (instruction, current) => {
  const words = instruction.getJSONStrings().map((one) => one.getJSONValue())
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment(current) }
  const cwd = at(current, ".")
  if (words.length === 0) {
    const line = instruction.getArguments().map(String).join(" ")
    // The same lock: these packages are what it would install.
    if (line === "npm ci") return symlinkSync(join(root, "node_modules"), join(cwd, "node_modules"))
    return run("sh", ["-c", line], { cwd, env })
  }
  const temporary = folder("image-tmp")
  if (current.user !== undefined && isRoot)
    chownSync(temporary, Number.parseInt(current.user), Number.parseInt(current.user))
  const [command, ...args] = asUser(current, words, false)
  return run(command, args, { cwd, env: { ...env, TMPDIR: temporary, ...silent } })
}

/** No ports of the program's own while it builds: this machine may use them. The commands of the Dockerfile open none. */
const silent = { CM_METRICS_BIND_ADDRESS: "0", CM_HEALTH_PROBE_BIND_ADDRESS: "0", CM_CONSOLE_BIND_ADDRESS: "0" }

/** Carries the instructions out, and returns the last stage. */
const build = (text) => {
  const stages = []
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const current = stages.at(-1)
    const words = () => instruction.getArguments().map((one) => one.getValue())
    switch (instruction.getKeyword()) {
      case "FROM":
        stages.push(stage(words()[2]))
        break
      case "WORKDIR":
        current.cwd = words()[0]
        mkdirSync(at(current, "."), { recursive: true })
        break
      case "ENV":
        for (const property of instruction.getProperties()) current.env[property.getName()] = property.getValue()
        break
      case "USER":
        current.user = words()[0]
        break
      case "COPY":
        copy(instruction, current, stages)
        break
      case "RUN":
        if (current.user !== undefined) addNode(current)
        mounting(instruction, current, stages, () => runInstruction(instruction, current))
        break
      case "ENTRYPOINT":
        current.entrypoint = instruction.getJSONStrings().map((one) => one.getJSONValue())
        break
      case "ARG":
      case "LABEL":
        break
      default:
        throw new Error(`the Dockerfile has ${instruction.getKeyword()}, which this script does not carry out`)
    }
  }
  return stages.at(-1)
}

/** What the base image brings. */
const addNode = ({ path }) => {
  mkdirSync(join(path, "nodejs", "bin"), { recursive: true })
  copyFileSync(nodeOf("node24"), join(path, "nodejs", "bin", "node"))
}

const canMount = isRoot && spawnSync("unshare", ["--mount", "true"]).status === 0

await main(async () => {
  const image = build(readFileSync(join(root, "Dockerfile"), "utf8"))
  const temporary = folder("image-tmp")
  const [user] = image.user.split(":").map(Number)
  if (isRoot) chownSync(temporary, user, user)
  const probes = 20_000 + (process.pid % 10_000)
  const env = { ...environment(image), HOME: temporary, TMPDIR: temporary, NODE_DEBUG: "compile-cache" }
  const { output, started, stopped } = await tryProgram(asUser(image, image.entrypoint, canMount), { env, probes })
  if (/EROFS|EACCES|permission denied/i.test(output)) throw new Error(`it tried to write where it may not:\n${output}`)
  const accepted = output.match(/: accepted$/gm)?.length ?? 0
  if (accepted < 50) throw new Error(`V8 accepted the compiled code of only ${accepted} files:\n${output}`)
  const size = run("du", ["-sm", at(image, ".")]).split("\t")[0]
  said(
    `image: ${size} MB beside the base image; as ${isRoot ? `user ${user}` : "this user, who may not become another one"}, ` +
      `${canMount ? "on a read-only file system" : "on a writable file system, because none can be mounted"}, the program starts ` +
      `in ${started} ms, responds to probes, and ends at SIGTERM with exit code 0 after ${stopped} ms. V8 accepts the compiled code of ${accepted} files.`
  )
})

/**
 * The blocks of a document: their text, and whether two outputs are equal. It parses and compares; the script of each document executes its
 * blocks.
 */

/** Fenced blocks with a language, in order. */
export const blocksOf = (text) =>
  [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, body]) => ({ language, body }))

/** `$ command` lines, each with the lines that are shown below it. */
export const commandsOf = (body) =>
  body
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command, ...output] = part.trimEnd().split("\n")
      return { command, output: output.join("\n").trim() }
    })

/** Removes what differs between two equivalent runs, and npm's remarks about the configuration of a machine. */
export const normal = (text) =>
  text
    .replace(/^npm warn .*\n/gm, "")
    // Which of the ports is in use depends on the machine.
    .replace(/^timestamp=.*message="(Serving|cannot serve) (probes|metrics|console)\b.*\n?/gm, "")
    .replace(/^http:.*\/console\/#token=.*\n?/gm, "")
    .trim()
    .replace(/timestamp=\S+/g, "timestamp=TIME")
    .replace(/fiber=#\d+/g, "fiber=#N")
    .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT")
    .replace(/\/\S*\/embedded-cluster-\w+\//g, "/embedded-cluster/")
    .replace(/\/\S*\/\.kube\/config/g, "HOME/.kube/config")
    .replace(/\(x\d+ over \w+\)/g, "")
    .replace(/(?<=\s)(\d+[smhd])+(?=\s)/g, "AGE")
    .replace(/pod count is \d+$/gm, "pod count is N")
    .replace(/-[bcdfghjklmnpqrstvwxz2456789]{6,10}(-[bcdfghjklmnpqrstvwxz2456789]{5})?(?=\s)/g, "-HASH")
    .replace(/-{3,}/g, "---")
    .replace(/[ \t]+/g, " ")
    .replace(/ $/gm, "")

/**
 * The order of lines is not compared: the program prints to two pipes, and events of one second come in any order. How often a line occurs is not
 * compared either: the first count may be made before all pods exist.
 */
export const sorted = (text) => [...new Set(normal(text).split("\n"))].map(String).sort().join("\n")

/** The error about output that differs from what the document shows. */
export const differ = (command, shown, printed) =>
  new Error(`"${command}" no longer prints what is shown.\n--- shown\n${shown}\n--- printed\n${printed}`)

/**
 * The command `kube-controller-manager` accepts every flag of the program that it replaces. A flag works, with the same default or another one for a
 * reason that is given here; or it is accepted, and a sentence says why it has no effect. The fixture is `commandLine.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { gates, table } from "../support/controllers.ts"
import * as Flags from "../../src/manager/kubeControllerManager/flags.ts"
import * as Loops from "../../src/manager/kubeControllerManager/controllers.ts"
import * as Own from "../../src/manager/kubeControllerManager/settings.ts"
import type { Setting } from "../../src/layers/Setting.ts"
import * as Sources from "../../src/manager/setting/sources.ts"
import { settings } from "../support/controllers.ts"
import { controllerNames, flags, initialOf } from "./commandLine.ts"

const own = Own.settingsOf(settings)

const byName: ReadonlyMap<string, Setting<unknown>> = new Map(
  Object.values<Setting<unknown>>(own).map((setting) => [setting.name, setting])
)

const translate = (...argv: ReadonlyArray<string>) => Flags.translate(argv, own, gates)

/** Flags with another default here, and the reason. */
const differing: Readonly<Record<string, string>> = {
  "kube-api-qps": "requests are not limited unless that is asked for"
}

const samples = { bool: "true", string: "x", number: "7", duration: "7s", list: "a,b", map: "A=true" } as const

describe("a flag of kube-controller-manager 1.36", () => {
  for (const flag of flags) {
    const [name, type] = flag
    const setting = byName.get(name)

    it(`--${name} ${setting === undefined ? "is accepted, and a sentence says why it has no effect" : "works"}`, () => {
      if (setting === undefined) {
        for (const argv of [
          [`--${name}=${samples[type]}`],
          type === "bool" ? [`--${name}`] : [`--${name}`, samples[type]],
          [`--${name.replaceAll("-", "_")}=${initialOf(flag)}`]
        ]) {
          const { argv: left, notes } = translate("--leader-elect", ...argv, "--kubeconfig=a")
          assert.deepStrictEqual(left, ["--leader-elect=true", "--kubeconfig=a"])
          assert.lengthOf(notes, 1)
          assert.match(notes[0] ?? "", new RegExp(`^--${name} has no effect, because .{20,}$`))
        }
        return
      }
      assert.strictEqual(setting.codec.isSwitch === true, type === "bool")
      assert.isTrue(Option.isSome(setting.read(initialOf(flag))), `${initialOf(flag)} is refused`)
      const isSame = JSON.stringify(setting.read(undefined)) === JSON.stringify(setting.read(initialOf(flag)))
      assert.strictEqual(isSame, differing[name] === undefined, `the default is ${setting.default}`)
    })
  }

  it("is not accepted under a name that does not exist", () => {
    const names = new Set(flags.map(([name]) => name))
    assert.deepStrictEqual(
      Flags.withoutEffect.filter((name) => !names.has(name)),
      []
    )
    for (const name of [
      "concurrent-resource-claim-syncs",
      "unsupported-kube-api-over-localhost",
      "volume-host-cidr-denylist"
    ])
      assert.deepStrictEqual(translate(`--${name}=1`), { argv: [`--${name}=1`], notes: [] })
  })

  it("has its default when all flags are given with their defaults", () => {
    const { argv } = translate(...flags.map((flag) => `--${flag[0]}=${initialOf(flag)}`))
    const given = new Map(argv.map((one) => [one.slice(2, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]))
    const resolved = Result.getOrThrow(Sources.resolve(own, { flags: given, env: {} }))
    assert.isUndefined(Own.contradiction(resolved))
  })
})

describe("a command line of kube-controller-manager", () => {
  it("is parsed as pflag parses it: the last of several values counts, lists grow", () => {
    assert.deepStrictEqual(
      translate(
        "--v=1",
        "--controllers=*",
        "-v",
        "4",
        "--controllers",
        "-ttl",
        "--concurrent_rc_syncs=3",
        "--leader-elect"
      ),
      {
        argv: ["--v=4", "--controllers=*,-ttl", "--concurrent-rc-syncs=3", "--leader-elect=true"],
        notes: []
      }
    )
    assert.deepStrictEqual(translate("-v2", "--leader-elect=f", "--kubeconfig").argv, [
      "--kubeconfig",
      "--v=2",
      "--leader-elect=f"
    ])
  })

  it("may name feature gates that do not exist here, which a sentence reports; with their component or without it", () => {
    assert.deepStrictEqual(
      translate(
        "--feature-gates=kube:HPAScaleToZero=true,JobManagedBy=false",
        "--feature-gates=kube:DRAAdminAccess=true,AllAlpha=0"
      ),
      {
        argv: ["--feature-gates=HPAScaleToZero=true,AllAlpha=0"],
        notes: [
          "The feature gates JobManagedBy and DRAAdminAccess have no effect, because what they switch is not in this program"
        ]
      }
    )
    assert.deepStrictEqual(translate("--feature-gates=HPAScaleToZero").argv, ["--feature-gates=HPAScaleToZero"])
  })

  it("asks for the version in each spelling", () => {
    for (const argument of ["--version", "--version=true", "--version=raw"])
      assert.deepStrictEqual(translate(argument), { argv: ["--version"], notes: [] })
    assert.deepStrictEqual(translate("--version=v1.36.0-mine"), {
      argv: [],
      notes: ["--version=v1.36.0-mine has no effect, because this program reports its own version"]
    })
  })

  it("may name every controller, by each of its names", () => {
    const here = new Set(table.flatMap(({ aliases = [], controller }) => [controller.name, ...aliases]))
    const names = controllerNames.flatMap(([name, alias]) => (alias === undefined ? [name] : [name, alias]))
    const { note = "", patterns } = Loops.choose(table, names)
    assert.deepStrictEqual(
      patterns.filter((name) => !here.has(name)),
      []
    )
    assert.deepStrictEqual(
      names.filter((name) => !patterns.includes(name) && !note.includes(name)),
      []
    )
  })
})

describe("the section of docs/operations.md about its command line", () => {
  const text = readFileSync(fileURLToPath(new URL("../../docs/operations.md", import.meta.url)), "utf8")
  const [, section = ""] = text.split("\n## In place of kube-controller-manager\n")

  it("names each flag whose default differs", () => {
    for (const name of Object.keys(differing)) assert.include(section.split("\n## ")[0], `\`--${name}\``)
  })
})

/** Arrow keys move the focus in lists. */

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }

export const isEditable = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Moves the focus among the elements of the list that the selector names; arrows left and right too if it runs both ways. */
export const moveFocus = (event: KeyboardEvent, selector: string, runsBothWays = false): void => {
  const { currentTarget, key, target } = event
  if (!(currentTarget instanceof HTMLElement) || !(target instanceof HTMLElement) || isEditable(target)) return
  const isSideways = key === "ArrowLeft" || key === "ArrowRight"
  if (event.altKey || event.ctrlKey || event.metaKey || (isSideways && !runsBothWays)) return
  const items = [...currentTarget.querySelectorAll<HTMLElement>(selector)]
  const at = items.findIndex((item) => item === target)
  const step = steps[key]
  const next =
    key === "Home"
      ? items[0]
      : key === "End"
        ? items.at(-1)
        : step === undefined || at === -1
          ? undefined
          : items[at + step]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}

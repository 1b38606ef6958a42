/** Doubly linked lists. */

/** Only the list writes them; both are undefined while the item is in none. */
export interface Neighbours<I> {
  previous: I | undefined
  next: I | undefined
}

/** A list whose items have their neighbours themselves. An item is in one list at a time. */
export class Line<I extends Neighbours<I>> {
  head: I | undefined
  tail: I | undefined

  append(item: I): void {
    item.previous = this.tail
    if (this.tail === undefined) this.head = item
    else this.tail.next = item
    this.tail = item
  }

  /** False, and nothing is done, for an item that is not in the list. */
  remove(item: I): boolean {
    const { next, previous } = item
    if (previous === undefined && this.head !== item) return false
    if (previous === undefined) this.head = next
    else previous.next = next
    if (next === undefined) this.tail = previous
    else next.previous = previous
    item.previous = undefined
    item.next = undefined
    return true
  }

  clear(): void {
    this.head = undefined
    this.tail = undefined
  }
}

/** The place of a value in a chain. It has no value once it was removed. */
export interface Link<out A> {
  readonly value: A
}

interface Node<A> extends Neighbours<Node<A>> {
  value: A | undefined
}

/**
 * Values that come and go, in the order in which they came. In place of a Set where they do so all the time: the former table of a Set that has grown or shrunk
 * refers to the next one, and V8 keeps what a dead table in the old space refers to until it marks that space. Of a Set of the requests in flight, nearly every
 * request survives the collections of the young space and dies in the old one. A link that was removed refers to nothing.
 */
export class Chain<A> {
  private readonly nodes = new Line<Node<A>>()

  /** The link of the value that came first. */
  get first(): Link<A> | undefined {
    return this.nodes.head as Link<A> | undefined
  }

  add(value: A): Link<A> {
    const node: Node<A> = { value, previous: undefined, next: undefined }
    this.nodes.append(node)
    return node as Link<A>
  }

  /** False, and nothing is done, for a link that was removed before. */
  delete(link: Link<A>): boolean {
    const node = link as Node<A>
    if (!this.nodes.remove(node)) return false
    node.value = undefined
    return true
  }

  /** Removes and returns the value that came first. */
  shift(): A | undefined {
    const { first } = this
    const value = first?.value
    if (first !== undefined) this.delete(first)
    return value
  }

  /** As if the value had come last. Does nothing for a link that was removed. */
  moveLast(link: Link<A>): void {
    const node = link as Node<A>
    if (this.nodes.remove(node)) this.nodes.append(node)
  }

  clear(): void {
    while (this.first !== undefined) this.shift()
  }

  /** The links of all present values; any of them may be removed meanwhile. */
  links(): Array<Link<A>> {
    const found: Array<Link<A>> = []
    for (let node = this.nodes.head; node !== undefined; node = node.next) found.push(node as Link<A>)
    return found
  }

  values(): Array<A> {
    return this.links().map(({ value }) => value)
  }
}

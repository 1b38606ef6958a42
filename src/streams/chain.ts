/**
 * Values that come and go, in the order in which they came. In place of a Set where they do so all the time: the former table of a Set that has grown or shrunk
 * refers to the next one, and V8 keeps what a dead table in the old space refers to until it marks that space. Of a Set of the requests in flight, so to say every
 * request survives the collections of the young space and dies in the old one. A link that was removed refers to nothing.
 */
export interface Link<out A> {
  readonly value: A
}

interface Node<A> {
  value: A | undefined
  before: Node<A> | undefined
  after: Node<A> | undefined
}

export class Chain<A> {
  private head: Node<A> | undefined
  private tail: Node<A> | undefined

  /** The link of the value that came first. */
  get first(): Link<A> | undefined {
    return this.head as Link<A> | undefined
  }

  add(value: A): Link<A> {
    const node: Node<A> = { value, before: undefined, after: undefined }
    this.append(node)
    return node as Link<A>
  }

  /** False, and nothing is done, for a link that was removed before. */
  delete(link: Link<A>): boolean {
    const node = link as Node<A>
    if (!this.take(node)) return false
    node.value = undefined
    return true
  }

  /** As if the value had come last. Does nothing for a link that was removed. */
  moveLast(link: Link<A>): void {
    const node = link as Node<A>
    if (this.take(node)) this.append(node)
  }

  clear(): void {
    for (let link = this.first; link !== undefined; link = this.first) this.delete(link)
  }

  /** The links of all present values; any of them may be removed meanwhile. */
  links(): Array<Link<A>> {
    const found: Array<Link<A>> = []
    for (let node = this.head; node !== undefined; node = node.after) found.push(node as Link<A>)
    return found
  }

  values(): Array<A> {
    return this.links().map(({ value }) => value)
  }

  private append(node: Node<A>): void {
    node.before = this.tail
    if (this.tail === undefined) this.head = node
    else this.tail.after = node
    this.tail = node
  }

  private take(node: Node<A>): boolean {
    const { after, before } = node
    if (before === undefined && this.head !== node) return false
    if (before === undefined) this.head = after
    else before.after = after
    if (after === undefined) this.tail = before
    else after.before = before
    node.before = undefined
    node.after = undefined
    return true
  }
}

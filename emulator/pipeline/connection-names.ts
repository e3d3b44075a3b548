/**
 * Names the connections of one port `connection-1`, `connection-2` and so on. A connection gets its number when
 * `nameOf` is first called for its socket.
 */
export class ConnectionNames {
  readonly #names = new WeakMap<object, string>();
  #count = 0;

  nameOf(socket: object): string {
    const known = this.#names.get(socket);
    if (known !== undefined) return known;
    this.#count += 1;
    const name = `connection-${this.#count}`;
    this.#names.set(socket, name);
    return name;
  }
}

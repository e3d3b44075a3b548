/** Numbers the connections of a port in the order in which their names are first read. */
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

/** What is made once for each owner, when it is first asked for, and goes with it. */
export function oncePer<Owner extends object, Made extends object>(
  make: (owner: Owner) => Made,
): (owner: Owner) => Made {
  const all = new WeakMap<Owner, Made>();
  return (owner) => {
    const made = all.get(owner) ?? make(owner);
    all.set(owner, made);
    return made;
  };
}

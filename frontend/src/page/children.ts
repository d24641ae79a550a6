/** The children of `holder` become `wanted`, in this order. Those that stay are not moved: what is moved loses the focus. */
export function arrange(holder: Element, wanted: Element[]): void {
  const kept = new Set<Node>(wanted);
  for (const child of [...holder.childNodes]) if (!kept.has(child)) child.remove();
  wanted.forEach((each, place) => {
    const there = holder.children[place] ?? null;
    if (there !== each) holder.insertBefore(each, there);
  });
}

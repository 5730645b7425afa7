/** How often each outcome came, for a line of the figures. */
export function tally(outcomes: readonly string[]): string {
	const kinds = [...new Set(outcomes)].sort();
	return kinds.map((kind) => `${outcomes.filter((one) => one === kind).length} ${kind}`).join(', ');
}

/** Does `work` for each of the list, so many at a time. */
export async function eachOf<T>(
	list: readonly T[],
	atOnce: number,
	work: (value: T) => Promise<void>,
): Promise<void> {
	const left = [...list];
	const worker = async (): Promise<void> => {
		for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
	};
	await Promise.all(Array.from({ length: atOnce }, worker));
}

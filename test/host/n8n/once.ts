/** A piece of work that is done at most once; everybody who asks for it awaits the same doing. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
	let doing: Promise<T> | undefined;
	return async () => await (doing ??= work());
}

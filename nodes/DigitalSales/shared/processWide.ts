interface Clearable {
	clear(): void;
}

const all: Clearable[] = [];

/**
 * Declares state that both nodes and all executions of a process share. It stands next to the code
 * that it serves and must be bounded: by a {@link BoundedMap}, by the number of accounts, or by what
 * is in progress.
 */
export function processWide<T extends Clearable>(state: T): T {
	all.push(state);
	return state;
}

/**
 * Forgets all of it, as a restart of n8n does.
 *
 * @internal
 */
export function clearProcessWide(): void {
	for (const state of all) state.clear();
}

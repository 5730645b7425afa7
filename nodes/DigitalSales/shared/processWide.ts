interface Clearable {
	clear(): void;
}

const all: Clearable[] = [];

/**
 * Declares state that both nodes and all executions of a process share, next to the code that uses
 * it. It must be bounded: by a {@link BoundedMap}, the number of accounts, or what is in progress.
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

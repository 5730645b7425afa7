/** State that outlives an execution, and how it is emptied. */
interface Home {
	clear(): void;
}

const homes: Home[] = [];

/**
 * Declares what both nodes and all executions of this process share. Nothing else in the package may
 * outlive an execution.
 */
export function processWide<T extends Home>(home: T): T {
	homes.push(home);
	return home;
}

/**
 * Forgets all of it, as a restart of n8n does.
 * @internal
 */
export function forgetProcess(): void {
	for (const home of homes) home.clear();
}

const OURS = /\/((?:nodes|credentials|vendor)\/[^:]*)\.ts$/;
/** Files that search a text for their caller. */
const ON_BEHALF = /^node:|\/node_modules\/(?:zod|lodash)\/|\/slowSearches\.ts$/;
const MOST_FRAMES = 50;
/** Normalizing such a run takes quadratic time. */
const LONG_RUN_OF_MARKS = /[\u0300-\u034e\u0350-\u036f]{32}/;

/**
 * Lists the patterns of the package that search a text longer than `longest` while a task runs, because many patterns
 * take quadratic time. Also lists `normalize` on a long run of combining marks. Each entry names the file.
 */
export async function findSlowSearches(
	longest: number,
	task: () => Promise<unknown>,
): Promise<string[]> {
	const { exec } = RegExp.prototype;
	const { normalize } = String.prototype;
	const found = new Set<string>();
	const seen = new WeakSet<RegExp>();
	RegExp.prototype.exec = function (text) {
		if (text?.length > longest && !seen.has(this)) {
			seen.add(this);
			const file = searchingFile();
			if (file !== undefined) found.add(`${file}: ${this.source}`);
		}
		return exec.call(this, text);
	};
	String.prototype.normalize = function (form?: string) {
		const file = exec.call(LONG_RUN_OF_MARKS, String(this)) && searchingFile();
		if (file) found.add(`${file}: normalize`);
		return normalize.call(this, form);
	};
	try {
		await task();
	} finally {
		RegExp.prototype.exec = exec;
		String.prototype.normalize = normalize;
	}
	return [...found].sort();
}

/** The file of the package that searches now, itself or through a library. */
function searchingFile(): string | undefined {
	const { prepareStackTrace, stackTraceLimit } = Error;
	Error.stackTraceLimit = MOST_FRAMES;
	Error.prepareStackTrace = (_error, sites) => sites;
	const { stack } = new Error() as { stack?: unknown };
	Object.assign(Error, { prepareStackTrace, stackTraceLimit });
	// Within another `prepareStackTrace`, the stack is a text. The package never does this.
	if (!Array.isArray(stack)) return undefined;
	const files = (stack as NodeJS.CallSite[]).map((site) => site.getFileName() ?? 'node:');
	return OURS.exec(files.find((file) => !ON_BEHALF.test(file)) ?? '')?.[1];
}

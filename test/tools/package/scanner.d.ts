/** The part of the official scanner that is used here; it brings no types of its own. */
declare module '@n8n/scan-community-package/scanner/scanner.mjs' {
	interface Analysis {
		passed: boolean;
		message?: string;
		/** ESLint's report, where something was found. */
		details?: string;
	}

	export const SOURCE_FILE_PATTERNS: string[];
	export function analyzePackage(folder: string, patterns?: string[]): Promise<Analysis>;
}

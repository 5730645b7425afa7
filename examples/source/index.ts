import { accessByHttp, accessByPostgres } from './access';
import { mcpTools, salesAssistant } from './assistant';
import { catalogToSheet, offersFromSheet } from './catalog';
import { chargeByEmail } from './charge-by-email';
import {
	chargeByEvolutionApi,
	chargeByWhatsApp,
	chargeByWhatsAppTemplate,
} from './charge-by-whatsapp';
import { chargeListFromSheet } from './charge-list';
import { errorsToTelegram } from './errors-to-telegram';
import {
	everyStatusToSheet,
	paidSaleToAnyCrm,
	paidSaleToSheetAndHubSpot,
	paidSaleToTelegram,
} from './paid-sale';
import {
	reconciliationCharge,
	reconciliationNotices,
	reconciliationSchedule,
} from './reconciliation';
import { recoverUnpaidPix } from './recover-unpaid-pix';
import { pages } from './page';
import { LANGUAGES, render, type Recipe } from './workflow';

/** The recipes, by the name of their file, in the order in which a seller would want them. */
export const RECIPES: Record<string, Recipe> = {
	'charge-by-whatsapp': chargeByWhatsApp,
	'charge-by-whatsapp-template': chargeByWhatsAppTemplate,
	'charge-by-evolution-api': chargeByEvolutionApi,
	'charge-by-email': chargeByEmail,
	'charge-list-from-google-sheets': chargeListFromSheet,
	'recover-unpaid-pix': recoverUnpaidPix,
	'paid-sale-to-google-sheets-and-hubspot': paidSaleToSheetAndHubSpot,
	'paid-sale-to-any-crm': paidSaleToAnyCrm,
	'paid-sale-to-telegram': paidSaleToTelegram,
	'access-by-http': accessByHttp,
	'access-by-postgres': accessByPostgres,
	'every-status-to-google-sheets': everyStatusToSheet,
	'errors-to-telegram': errorsToTelegram,
	'catalog-to-google-sheets': catalogToSheet,
	'offers-from-google-sheets': offersFromSheet,
	'reconciliation-1-charge': reconciliationCharge,
	'reconciliation-2-notices': reconciliationNotices,
	'reconciliation-3-schedule': reconciliationSchedule,
	'ai-sales-assistant': salesAssistant,
	'mcp-tools': mcpTools,
};

export function recipeOf(name: string): Recipe {
	const recipe = RECIPES[name];
	if (!recipe) throw new Error(`There is no recipe ${name}`);
	return recipe;
}

/** Every file of the examples that is made from a recipe, with its text. */
export function files(): Record<string, string> {
	const workflows = LANGUAGES.flatMap((language) =>
		Object.entries(RECIPES).map(([name, recipe]) => [
			`${language}/${name}.json`,
			`${JSON.stringify(render(recipe, name, language), null, '\t')}\n`,
		]),
	);
	return { ...Object.fromEntries(workflows), ...pages(RECIPES) };
}

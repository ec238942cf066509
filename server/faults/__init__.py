"""The fault plane: rules that say which requests are to fail, be late, or lose their connection."""

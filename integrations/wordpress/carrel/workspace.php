<?php
/* The page with the app, and the address where it fetches a newer token. */

if ( ! defined( 'ABSPATH' ) ) {
    exit;
}

const CARREL_PAGE = 'admin-post.php?action=carrel_workspace';

/* A filter, because WordPress sets these headers once more when it ends a request. */
function carrel_no_store(): void {
    add_filter( 'nocache_headers', fn( $headers ) => array( 'Cache-Control' => 'no-store' ) + $headers );
    nocache_headers();
}

function carrel_give_token(): void {
    carrel_no_store();
    if ( 'POST' === $_SERVER['REQUEST_METHOD'] ) {
        delete_transient( 'carrel_token_' . get_current_user_id() ); /* The service refused it. */
    }
    $user  = wp_get_current_user();
    $token = $user->exists() ? carrel_token( $user->ID ) : 401;
    if ( is_string( $token ) ) {
        wp_send_json( array( 'session_token' => $token, 'user_name' => $user->display_name ) );
    }
    wp_send_json( array( 'code' => $user->exists() ? 'key-not-cached' : 'signed-out' ), $token );
}
add_action( 'wp_ajax_carrel_token', 'carrel_give_token' );
add_action( 'wp_ajax_nopriv_carrel_token', 'carrel_give_token' );

add_action( 'admin_post_nopriv_carrel_workspace', 'auth_redirect' );
add_action( 'admin_post_carrel_workspace', function () {
    $token = carrel_token( get_current_user_id() );
    $again = wp_login_url( admin_url( CARREL_PAGE ), true ); /* Asks also those who are signed in. */
    carrel_no_store();
    if ( 503 === $token ) {
        wp_die( 'Your workspace cannot be reached right now. Please try again later.', 'Workspace', 503 );
    }
    if ( 401 === $token ) {
        wp_die( sprintf(
            '<p>Your workspace is locked. <a href="%s">Enter your password</a> to open it.</p>
            <p>If it stays locked, it has an earlier password of yours.
            <a href="%s">Ask for a new password</a>, and enter the earlier one there as well.</p>',
            esc_url( $again ), esc_url( wp_lostpassword_url() )
        ), 'Workspace', 401 );
    }
    $nonce  = base64_encode( random_bytes( 16 ) );
    $config = array(
        'baseUrl'      => carrel_url(),
        'sessionToken' => $token,
        'userName'     => wp_get_current_user()->display_name,
        'tokenUrl'     => admin_url( 'admin-ajax.php?action=carrel_token' ),
        'unlockUrl'    => $again,
    );
    header( "Content-Security-Policy: default-src 'none'; script-src 'nonce-$nonce' " . carrel_url()
        . "; style-src 'unsafe-inline' " . carrel_url() . "; img-src 'self' data: blob:; font-src data: " . carrel_url()
        . "; connect-src 'self' " . carrel_url() . "; frame-src blob:; worker-src 'self' blob:; form-action 'self'"
        . "; base-uri 'none'; frame-ancestors 'none'" );
    header( 'Content-Type: text/html; charset=utf-8' );
    ?>
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Workspace</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><div id="carrel"></div>
<script nonce="<?php echo esc_attr( $nonce ); ?>">window.carrel = <?php echo wp_json_encode( $config, JSON_HEX_TAG | JSON_HEX_AMP ); ?>;</script>
<script nonce="<?php echo esc_attr( $nonce ); ?>" type="module" src="<?php echo esc_url( carrel_url() ); ?>/app/carrel.js"></script>
</body></html>
    <?php
    exit;
} );

/* The shortcode [carrel] and the block "Carrel workspace": a link to the page, which asks who is not signed in. */
function carrel_link(): string {
    return sprintf( '<a class="wp-element-button" href="%s">Open my workspace</a>', esc_url( admin_url( CARREL_PAGE ) ) );
}
add_shortcode( 'carrel', 'carrel_link' );
add_action( 'init', function () {
    wp_register_script( 'carrel-block', '', array( 'wp-blocks', 'wp-element' ), '0.1.0', true );
    wp_add_inline_script( 'carrel-block', "wp.blocks.registerBlockType('carrel/workspace',{title:'Carrel workspace',"
        . "icon:'lock',category:'widgets',edit:()=>wp.element.createElement('p',null,'Open my workspace'),save:()=>null});" );
    register_block_type( 'carrel/workspace', array( 'editor_script' => 'carrel-block', 'render_callback' => 'carrel_link' ) );
} );
